#include "python.hpp"

namespace headrace::detail::python {

void set_python_error(const status& why, error_of when) {
  // The classes are defined in Python: `headrace.errors` has one for each code.
  auto make = nb::module_::import_("headrace.errors").attr("_make");
  auto made =
    make(static_cast<int>(why.code()), text_of(why.message()), when == error_of::what_is_made);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const error& e) {
      set_python_error(e.why(), error_of::what_is_made);
    }
  });
}

} // namespace headrace::detail::python
