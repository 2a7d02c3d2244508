#include "headrace/runtime/base/status.hpp"

#include "python.hpp"

namespace headrace::python {

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const error& e) {
      // The classes are Python's: `headrace.errors` knows one for each code.
      auto make = nb::module_::import_("headrace.errors").attr("_make");
      auto made = make(std::string{to_string(e.why().code())}, e.why().message());
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    }
  });
}

} // namespace headrace::python
