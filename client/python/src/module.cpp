#define HEADRACE_IMPORTS_NUMPY
#include "python.hpp"
#include "string_value.hpp"

namespace headrace::detail::python {
namespace {

void import_numpy() {
  if (_import_array() < 0)
    throw nb::python_error();
}

} // namespace
} // namespace headrace::detail::python

NB_MODULE(_core, m) {
  using namespace headrace::detail::python;
  import_numpy();
  // nanobind warns of objects that exist when the interpreter exits. Such objects are no defect: an
  // exception's traceback may refer to them. Tests enable the warnings by `report_leaks`.
  nanobind::set_leak_warnings(false);
  m.def("report_leaks", [] { nanobind::set_leak_warnings(true); });
  m.doc() = "What the package headrace is made of; programs use the package.";
  bind_errors(m);
  bind_string_value(m);
  bind_tensors(m);
  bind_functions(m);
  bind_image_functions(m);
  bind_reading(m);
  bind_datasets(m);
  bind_writers(m);
  bind_statistics(m);
  bind_storage(m);
  bind_service(m);
  bind_saves(m);
  bind_sharding(m);
  bind_dlpack(m);
  bind_python_functions(m);
}
