#include "python.hpp"

#include <nanobind/ndarray.h>

namespace headrace::detail::python {

namespace {

/// The DLPack type of the array's values.
nb::dlpack::dtype dlpack_type(PyArrayObject* array) {
  const auto* type = PyArray_DESCR(array);
  const auto bits = static_cast<uint8_t>(PyArray_ITEMSIZE(array) * 8);
  using code = nb::dlpack::dtype_code;
  const auto as = [&](code c) { return nb::dlpack::dtype{static_cast<uint8_t>(c), bits, 1}; };
  switch (type->kind) {
  case 'b': return as(code::Bool);
  case 'i': return as(code::Int);
  case 'u': return as(code::UInt);
  case 'f': return as(code::Float);
  case 'c': return as(code::Complex);
  case 'V': // ml_dtypes
    if (nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<const PyObject*>(type))))
        == "bfloat16")
      return as(code::Bfloat);
    break;
  default: break;
  }
  throw nb::type_error("DLPack has no such dtype");
}

} // namespace

void bind_dlpack(nb::module_& m) {
  // Exports an array as writable. numpy's own export is not used for the read-only arrays of
  // elements: older versions of numpy refuse it, and not every library accepts a read-only array.
  m.def("dlpack", [](nb::handle value) {
    if (!PyArray_Check(value.ptr()))
      throw nb::type_error("an array is needed");
    auto* array = reinterpret_cast<PyArrayObject*>(value.ptr());
    if (!PyArray_IS_C_CONTIGUOUS(array))
      throw nb::type_error("a contiguous array is needed");
    const std::vector<size_t> dims(PyArray_DIMS(array), PyArray_DIMS(array) + PyArray_NDIM(array));
    return nb::ndarray<nb::device::cpu>{
      PyArray_DATA(array), dims.size(), dims.data(), value, nullptr, dlpack_type(array)};
  });
}

} // namespace headrace::detail::python
