#include "element_writer.hpp"

#include "nested.hpp"
#include "string_value.hpp"

#include <memory>

namespace headrace::detail::python {

namespace {

void intern_names(const structure& layout, std::vector<nb::object>& out) {
  for (size_t i = 0; i < layout.children().size(); ++i) {
    if (layout.what() == structure::kind::named) {
      const auto& text = layout.names()[i];
      auto* name = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
      if (name == nullptr)
        throw nb::python_error();
      PyUnicode_InternInPlace(&name);
      out.push_back(nb::steal(name));
    }
    intern_names(layout.children()[i], out);
  }
}

void find_makers(const structure& layout, std::vector<nb::object>& out) {
  if (!layout.label().empty())
    out.push_back(maker_of(layout));
  for (const auto& child : layout.children()) find_makers(child, out);
}

std::vector<npy_intp> extents(const shape& dims) {
  return {dims.dims().begin(), dims.dims().end()};
}

nb::object checked(PyObject* made) {
  if (made == nullptr)
    throw nb::python_error();
  return nb::steal(made);
}

} // namespace

nb::object numpy_dtype(dtype type) {
  if (type == dtype::string)
    return nb::module_::import_("numpy").attr("dtype")("object");
  if (type == dtype::bfloat16) {
    nb::object types;
    try {
      types = nb::module_::import_("ml_dtypes");
    } catch (nb::python_error&) {
      throw error{unimplemented("numpy has no bfloat16: install the package ml_dtypes, or cast to "
                                "float32")};
    }
    return nb::module_::import_("numpy").attr("dtype")(types.attr("bfloat16"));
  }
  return nb::module_::import_("numpy").attr("dtype")(std::string{to_string(type)});
}

element_writer::element_writer(element_spec spec, strings_as strings)
  : spec_(std::move(spec)), strings_(strings), leaves_(spec_.components.size()) {
  intern_names(spec_.layout, names_);
  find_makers(spec_.layout, makers_);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    types_.push_back(numpy_dtype(spec_.components[i].type));
    leaves_[i].type = reinterpret_cast<PyArray_Descr*>(types_.back().ptr());
  }
}

void element_writer::hold(element any) {
  owner_.reset();
  held_ = std::move(any);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    auto& to = leaves_[i];
    to.from = &held_.rows().columns[i];
    to.values = reinterpret_cast<const char*>(to.from->value_buffer().data());
    if (to.from->is_dense()) {
      to.dims = extents(to.from->row_shape());
      to.row_bytes =
        static_cast<size_t>(to.from->row_elements()) * size_of(spec_.components[i].type);
    }
  }
}

nb::object element_writer::write_string(std::string_view text) const {
  if (strings_ == strings_as::values)
    return string_value(text);
  return checked(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

nb::handle element_writer::owner() {
  if (!owner_) {
    auto kept = std::make_unique<element>(held_);
    owner_ = nb::capsule(kept.get(), [](void* p) noexcept { delete static_cast<element*>(p); });
    static_cast<void>(kept.release());
  }
  return owner_;
}

nb::object element_writer::row(size_t index) {
  size_t at = 0;
  name_ = 0;
  maker_ = 0;
  return write(spec_.layout, at, index);
}

nb::object element_writer::of_class(const structure& layout, size_t maker, nb::object plain) const {
  return layout.label().empty() ? plain : makers_[maker](plain);
}

nb::object element_writer::write(const structure& layout, size_t& at, size_t row) {
  const auto& children = layout.children();
  const auto maker = maker_;
  maker_ += !layout.label().empty();
  switch (layout.what()) {
  case structure::kind::leaf: return write_leaf(leaves_[at++], row);
  case structure::kind::tuple: {
    auto out = checked(PyTuple_New(static_cast<Py_ssize_t>(children.size())));
    for (size_t i = 0; i < children.size(); ++i)
      PyTuple_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i),
                       write(children[i], at, row).release().ptr());
    return of_class(layout, maker, std::move(out));
  }
  case structure::kind::ragged: {
    auto parts = checked(PyTuple_New(static_cast<Py_ssize_t>(children.size())));
    for (size_t i = 0; i < children.size(); ++i)
      PyTuple_SET_ITEM(parts.ptr(), static_cast<Py_ssize_t>(i),
                       write_leaf(leaves_[at++], row).release().ptr());
    return ragged_of(nb::borrow<nb::tuple>(parts));
  }
  case structure::kind::named: {
    auto out = checked(PyDict_New());
    for (const auto& child : children) {
      auto name = names_[name_++];
      if (PyDict_SetItem(out.ptr(), name.ptr(), write(child, at, row).ptr()) != 0)
        throw nb::python_error();
    }
    return of_class(layout, maker, std::move(out));
  }
  }
  return nb::none();
}

nb::object element_writer::write_leaf(leaf& x, size_t row) {
  const auto& from = *x.from;
  const bool dense = from.is_dense();
  if (from.is_string()) {
    if (dense && x.dims.empty())
      return write_string(from.string(row));
    return write_strings(x, row, dense ? x.dims : extents(from.shape_of(row)));
  }
  const auto* at = x.values
                   + (dense ? row * x.row_bytes
                            : static_cast<size_t>(from.first_value(row)) * size_of(from.type()));
  if (dense && x.dims.empty())
    return checked(PyArray_Scalar(const_cast<char*>(at), x.type, nullptr));
  const auto dims = dense ? std::vector<npy_intp>{} : extents(from.shape_of(row));
  const auto& shape = dense ? x.dims : dims;
  Py_INCREF(x.type); // the array takes a reference
  // Read-only: other elements, other iterations and other readers may share the memory.
  auto out = checked(PyArray_NewFromDescr(&PyArray_Type, x.type, static_cast<int>(shape.size()),
                                          shape.data(), nullptr, const_cast<char*>(at),
                                          NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED, nullptr));
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(out.ptr()), owner().inc_ref().ptr())
      != 0)
    throw nb::python_error();
  return out;
}

nb::object element_writer::write_strings(const leaf& x, size_t row,
                                         const std::vector<npy_intp>& dims) const {
  auto out = checked(PyArray_SimpleNew(static_cast<int>(dims.size()), dims.data(), NPY_OBJECT));
  auto* array = reinterpret_cast<PyArrayObject*>(out.ptr());
  auto** items = static_cast<PyObject**>(PyArray_DATA(array));
  const auto first = static_cast<size_t>(x.from->first_value(row));
  const auto count = static_cast<size_t>(PyArray_SIZE(array));
  for (size_t i = 0; i < count; ++i) {
    auto* before = items[i];
    items[i] = write_string(x.from->string(first + i)).release().ptr();
    Py_XDECREF(before);
  }
  PyArray_CLEARFLAGS(array, NPY_ARRAY_WRITEABLE);
  return out;
}

} // namespace headrace::detail::python
