#include "string_value.hpp"

#include <cstring>

/// The class `String`. It derives from numpy.bytes_, and not directly from bytes, because
/// numpy.asarray parses the text of other classes that derive from bytes as a number.
namespace headrace::detail::python {

namespace {

PyTypeObject* string_type = nullptr; // never destroyed

bool is_string_value(PyObject* x) { return PyObject_TypeCheck(x, string_type) != 0; }

std::string_view view_of(PyObject* bytes) {
  return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
}

PyObject* plain(PyObject* self) {
  return PyBytes_FromStringAndSize(PyBytes_AS_STRING(self), PyBytes_GET_SIZE(self));
}

/// Sets `out` to the UTF-8 bytes of the str `text`. False: `text` cannot be encoded, because it has
/// lone surrogates.
bool utf8_of(PyObject* text, std::string_view& out) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == nullptr) {
    PyErr_Clear();
    return false;
  }
  out = {data, static_cast<size_t>(size)};
  return true;
}

PyObject* make(std::string_view text) {
  auto* out = PyObject_NewVar(PyBytesObject, string_type, static_cast<Py_ssize_t>(text.size()));
  if (out == nullptr)
    return nullptr;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  out->ob_shash = -1;
#pragma GCC diagnostic pop
  std::memcpy(out->ob_sval, text.data(), text.size());
  out->ob_sval[text.size()] = 0;
  return reinterpret_cast<PyObject*>(out);
}

void destroy(PyObject* self) {
  auto* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// True for numpy's arrays, lists and tuples: a String is compared with each of their values, as a
/// string tensor is.
bool has_values(PyObject* x) { return PyArray_Check(x) || PyList_Check(x) || PyTuple_Check(x); }

/// Converts `x` to a numpy array of Python objects.
nb::object objects_of(PyObject* x) {
  // For a list of bytes numpy would choose a dtype that drops NULs at the end of each value.
  return nb::steal(PyArray_FROM_OTF(x, NPY_OBJECT, NPY_ARRAY_FORCECAST));
}

/// A numpy array without axes whose only value is the object `self`, so that numpy does not convert
/// `self` to another type.
nb::object array_of(PyObject* self) {
  auto out = nb::steal(PyArray_SimpleNew(0, nullptr, NPY_OBJECT));
  if (out) {
    auto** at = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out.ptr())));
    Py_XDECREF(*at);
    *at = Py_NewRef(self);
  }
  return out;
}

PyObject* compare(PyObject* self, PyObject* other, int how) {
  if (how == Py_EQ || how == Py_NE) {
    if (PyUnicode_Check(other)) {
      std::string_view text;
      const bool equal = utf8_of(other, text) && text == view_of(self);
      return PyBool_FromLong(equal == (how == Py_EQ));
    }
    if (has_values(other)) {
      const auto values = objects_of(other);
      const auto mine = values ? array_of(self) : nb::object{};
      return mine ? PyObject_RichCompare(values.ptr(), mine.ptr(), how) : nullptr;
    }
  }
  return PyBytes_Type.tp_richcompare(self, other, how);
}

PyObject* add(PyObject* a, PyObject* b) {
  auto* other = is_string_value(a) ? b : a;
  if (PyArray_Check(other)) {
    const auto values = objects_of(other);
    const auto mine = values ? array_of(other == b ? a : b) : nb::object{};
    if (!mine)
      return nullptr;
    return other == b ? PyNumber_Add(mine.ptr(), values.ptr())
                      : PyNumber_Add(values.ptr(), mine.ptr());
  }
  std::string_view parts[2];
  PyObject* of[] = {a, b};
  for (size_t i = 0; i < 2; ++i) {
    if (PyBytes_Check(of[i]))
      parts[i] = view_of(of[i]);
    else if (!PyUnicode_Check(of[i]) || !utf8_of(of[i], parts[i]))
      Py_RETURN_NOTIMPLEMENTED;
  }
  std::string joined{parts[0]};
  return make(joined.append(parts[1]));
}

/// Returns NotImplemented, so that Python computes `value * 2` by the repetition of sequences. The
/// class would otherwise inherit the `*` of numpy's scalars.
PyObject* multiply(PyObject*, PyObject*) { Py_RETURN_NOTIMPLEMENTED; }

PyObject* reduce(PyObject* self, PyObject*) {
  auto* bytes = plain(self);
  return bytes ? Py_BuildValue("O(N)", &PyBytes_Type, bytes) : nullptr;
}

PyObject* as_bytes(PyObject* self, PyObject*) { return plain(self); }
PyObject* itself(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyMethodDef methods[] = {
  {"__reduce__", reduce, METH_NOARGS, "Pickled as bytes."},
  {"__reduce_ex__", reduce, METH_O, "Pickled as bytes."},
  {"__copy__", itself, METH_NOARGS, "Itself, as it does not change."},
  {"__deepcopy__", itself, METH_O, "Itself, as it does not change."},
  {"item", as_bytes, METH_NOARGS, "As bytes."},
  {"tolist", as_bytes, METH_NOARGS, "As bytes."},
  {nullptr, nullptr, 0, nullptr},
};

} // namespace

nb::object string_value(std::string_view text) {
  auto* out = make(text);
  if (out == nullptr)
    throw nb::python_error();
  return nb::steal(out);
}

void bind_string_value(nb::module_& m) {
  PyType_Slot slots[] = {
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_hash, reinterpret_cast<void*>(PyBytes_Type.tp_hash)},
    {Py_tp_repr, reinterpret_cast<void*>(PyBytes_Type.tp_repr)},
    {Py_tp_str, reinterpret_cast<void*>(PyBytes_Type.tp_repr)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_nb_add, reinterpret_cast<void*>(add)},
    {Py_nb_multiply, reinterpret_cast<void*>(multiply)},
    {Py_nb_remainder, reinterpret_cast<void*>(PyBytes_Type.tp_as_number->nb_remainder)},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>(
                  "A string of an element: bytes that are equal to the str with this UTF-8, too, "
                  "as TensorFlow's tensors of strings are. Hashes are those of bytes, and so of "
                  "the str if all characters are ASCII. A copy by pickle is bytes.")},
    {0, nullptr},
  };
  PyType_Spec spec{"headrace._core.String", 0, 0, Py_TPFLAGS_DEFAULT, slots};
  const auto bases = nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(&PyStringArrType_Type)));
  auto type = nb::steal(PyType_FromSpecWithBases(&spec, bases.ptr()));
  if (!type)
    throw nb::python_error();
  // With this priority, numpy's arrays leave comparisons with a String to the class String, which
  // compares with str and with bytes; numpy's arrays do not compare str with bytes.
  type.attr("__array_priority__") = 100.0;
  string_type = reinterpret_cast<PyTypeObject*>(nb::object{type}.release().ptr());
  m.attr("String") = type;
}

} // namespace headrace::detail::python
