#include "values.hpp"

#include "nested.hpp"

#include <cstring>

namespace headrace::detail::python {

namespace {

column strings_of(const shape& dims, PyArrayObject* array) {
  std::vector<nb::object> kept;
  std::vector<std::string_view> views;
  // PyArray_ToList does not take over the reference to its argument, so `ravelled` must own it.
  const auto ravelled = nb::steal(PyArray_Ravel(array, NPY_CORDER));
  if (!ravelled)
    throw nb::python_error();
  auto flat = nb::steal<nb::list>(PyArray_ToList(reinterpret_cast<PyArrayObject*>(ravelled.ptr())));
  if (!flat)
    throw nb::python_error();
  for (auto item : flat) {
    auto bytes = nb::borrow(item);
    if (PyUnicode_Check(bytes.ptr()))
      bytes = nb::steal(PyUnicode_AsUTF8String(bytes.ptr()));
    if (!bytes)
      throw nb::python_error();
    if (!PyBytes_Check(bytes.ptr()))
      throw nb::type_error("an array of objects may hold only str and bytes");
    views.emplace_back(PyBytes_AS_STRING(bytes.ptr()),
                       static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
    kept.push_back(std::move(bytes));
  }
  return column::of_strings(views).reshaped(dims, 1);
}

} // namespace

column column_of(nb::handle given) {
  if (!PyArray_Check(given.ptr()))
    throw nb::type_error("an array is needed");
  auto contiguous = nb::steal(PyArray_FROM_OF(
    given.ptr(), NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED));
  if (!contiguous)
    throw nb::python_error();
  auto* array = reinterpret_cast<PyArrayObject*>(contiguous.ptr());
  std::vector<int64_t> extents(PyArray_DIMS(array), PyArray_DIMS(array) + PyArray_NDIM(array));
  shape dims{std::move(extents)};
  const auto kind = PyArray_DESCR(array)->kind;
  if (kind == 'O' || kind == 'S' || kind == 'U')
    return strings_of(dims, array);
  const auto name = nb::cast<std::string>(contiguous.attr("dtype").attr("name"));
  const auto type = parse_dtype(name);
  if (!type)
    throw error{invalid_argument("there are no tensors of numpy's " + name)};
  return column::dense(
    *type, std::move(dims), 1,
    buffer::copy_of(PyArray_DATA(array), static_cast<size_t>(PyArray_NBYTES(array))));
}

expr expr_of(nb::handle value) {
  auto* p = value.ptr();
  if (nb::isinstance<expr>(value))
    return nb::cast<expr>(value);
  if (PyBool_Check(p))
    return expr{p == Py_True};
  if (PyLong_Check(p)) {
    int overflow = 0;
    const auto x = PyLong_AsLongLongAndOverflow(p, &overflow);
    if (overflow > 0) {
      const auto wide = PyLong_AsUnsignedLongLong(p);
      if (PyErr_Occurred())
        throw nb::python_error();
      return expr{static_cast<uint64_t>(wide)};
    }
    if (overflow < 0)
      throw nb::value_error("the integer is below the range of int64");
    return expr{static_cast<int64_t>(x)};
  }
  if (PyFloat_CheckExact(p))
    return expr{PyFloat_AS_DOUBLE(p)};
  if (PyUnicode_Check(p))
    return expr{nb::cast<std::string_view>(value)};
  if (PyBytes_Check(p))
    return expr{std::string_view{PyBytes_AS_STRING(p), static_cast<size_t>(PyBytes_GET_SIZE(p))}};
  auto tensor = nb::module_::import_("headrace._tensors.values").attr("constant")(value);
  return nb::cast<expr>(tensor);
}

bool takes_dtype_of_neighbour(nb::handle value) {
  auto* p = value.ptr();
  return PyList_Check(p) || PyTuple_Check(p) || PyArray_Check(p) || PyArray_IsScalar(p, Generic);
}

expr operand::beside(const expr& neighbour) const {
  if (!given.is_valid() || neighbour.is_literal())
    return value;
  auto as_dtype = nb::module_::import_("headrace.dtypes").attr("as_dtype");
  auto made = nb::module_::import_("headrace._tensors.values")
                .attr("operand_beside")(given, as_dtype(std::string{to_string(neighbour.type())}));
  return nb::cast<expr>(made);
}

expr_structure structure_of(nb::handle value) {
  std::vector<nb::object> leaves;
  auto layout = layout_of(value, leaves);
  std::vector<expr> out;
  for (const auto& leaf : leaves) out.push_back(expr_of(leaf));
  return {std::move(layout), std::move(out)};
}

} // namespace headrace::detail::python
