#pragma once

#include "headrace/runtime/base/status.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL headrace_numpy
#ifndef HEADRACE_IMPORTS_NUMPY
#  define NO_IMPORT_ARRAY
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <numpy/arrayobject.h>
#pragma GCC diagnostic pop

/// Declarations for all files of the extension module. Python objects are used only while the GIL
/// is held.
namespace headrace::detail::python {

namespace nb = nanobind;

/// A str for a text in a message, which may have come from a file or another process: a byte that
/// is not UTF-8 is written as an escape sequence such as `\xff`.
inline nb::object text_of(std::string_view x) {
  return nb::steal(
    PyUnicode_DecodeUTF8(x.data(), static_cast<Py_ssize_t>(x.size()), "backslashreplace"));
}

/// The cause of an error: a call that makes an object, or an element that was read.
enum class error_of : bool { what_is_made, what_is_read };

/// Sets Python's current exception to the exception of `headrace.errors` for `why`.
void set_python_error(const status& why, error_of when);

/// Each of these functions defines a part of the extension module.
void bind_errors(nb::module_& m);
void bind_tensors(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_image_functions(nb::module_& m);
void bind_datasets(nb::module_& m);
void bind_storage(nb::module_& m);
void bind_reading(nb::module_& m);
void bind_writers(nb::module_& m);
void bind_statistics(nb::module_& m);
void bind_service(nb::module_& m);
void bind_saves(nb::module_& m);
void bind_sharding(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_python_functions(nb::module_& m);

} // namespace headrace::detail::python
