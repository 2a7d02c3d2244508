#include "nested.hpp"

namespace headrace::detail::python {

namespace {

nb::object labels() { return nb::module_::import_("headrace._tensors.labels"); }

std::string label_of(nb::handle value) {
  return nb::cast<std::string>(labels().attr("label_of")(value));
}

nb::object of_class(const structure& layout, nb::object plain) {
  const auto make = maker_of(layout);
  return make.is_valid() ? make(plain) : plain;
}

nb::object arranged(const structure& layout, const std::function<nb::object(size_t)>& leaf,
                    size_t& at) {
  const auto& children = layout.children();
  switch (layout.what()) {
  case structure::kind::leaf: return leaf(at++);
  case structure::kind::tuple: {
    auto out = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(children.size())));
    for (size_t i = 0; i < children.size(); ++i)
      PyTuple_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i),
                       arranged(children[i], leaf, at).release().ptr());
    return of_class(layout, std::move(out));
  }
  case structure::kind::ragged: {
    nb::list parts;
    for (const auto& child : children) parts.append(arranged(child, leaf, at));
    return ragged_of(nb::tuple(parts));
  }
  case structure::kind::named: {
    nb::dict out;
    for (size_t i = 0; i < children.size(); ++i)
      out[nb::str(layout.names()[i].data(), layout.names()[i].size())] =
        arranged(children[i], leaf, at);
    return of_class(layout, std::move(out));
  }
  }
  return nb::none();
}

} // namespace

nb::object arranged(const structure& layout, const std::function<nb::object(size_t)>& leaf) {
  size_t at = 0;
  return arranged(layout, leaf, at);
}

nb::object maker_of(const structure& layout) {
  return layout.label().empty() ? nb::object{} : labels().attr("maker")(layout.label());
}

nb::object ragged_of(nb::tuple parts) {
  return nb::module_::import_("headrace._functions.ragged").attr("of_parts")(parts);
}

structure layout_of(nb::handle value, std::vector<nb::object>& leaves) {
  std::vector<structure> children;
  if (nb::hasattr(value, "_ragged_parts")) {
    auto parts = nb::borrow<nb::tuple>(value.attr("_ragged_parts"));
    for (auto part : parts) leaves.push_back(nb::borrow(part));
    return structure::ragged(parts.size() - 1);
  }
  if (PyTuple_Check(value.ptr())) {
    for (auto part : nb::borrow<nb::tuple>(value)) children.push_back(layout_of(part, leaves));
    auto out = structure::tuple(std::move(children));
    return PyTuple_CheckExact(value.ptr()) ? out : out.labelled(label_of(value));
  }
  if (PyDict_Check(value.ptr())) {
    std::vector<std::string> names;
    size_t numbers = 0;
    for (auto [key, part] : nb::borrow<nb::dict>(value)) {
      const bool number = PyLong_Check(key.ptr()) && !PyBool_Check(key.ptr());
      numbers += number;
      if (number ? numbers != names.size() + 1 : !PyUnicode_Check(key.ptr()) || numbers != 0)
        throw nb::type_error("the keys of a dict in an element must be all strings, or all ints");
      names.push_back(nb::cast<std::string>(nb::str(key)));
      children.push_back(layout_of(part, leaves));
    }
    auto out = structure::named(std::move(names), std::move(children));
    return PyDict_CheckExact(value.ptr()) && numbers == 0 ? out : out.labelled(label_of(value));
  }
  leaves.push_back(nb::borrow(value));
  return {};
}

nb::object to_python(const shape& dims) {
  if (!dims.has_rank())
    return nb::none();
  nb::list out;
  for (auto extent : dims.dims())
    if (extent < 0)
      out.append(nb::none());
    else
      out.append(extent);
  return nb::tuple(out);
}

shape shape_from_python(nb::handle dims) {
  if (dims.is_none())
    return shape::unknown_rank();
  std::vector<int64_t> out;
  for (auto extent : nb::borrow<nb::sequence>(dims))
    out.push_back(extent.is_none() ? shape::unknown : nb::cast<int64_t>(extent));
  return shape{std::move(out)};
}

nb::object to_python(const tensor_spec& spec) {
  return nb::make_tuple(std::string{to_string(spec.type)}, to_python(spec.dims));
}

tensor_spec tensor_spec_from_python(nb::handle spec) {
  auto pair = nb::borrow<nb::sequence>(spec);
  return {parse_dtype(nb::cast<std::string>(pair[0])).value(), shape_from_python(pair[1])};
}

nb::object to_python(const element_spec& spec, const nb::callable& leaf) {
  return arranged(spec.layout, [&](size_t i) -> nb::object {
    const auto& one = spec.components[i];
    return leaf(std::string{to_string(one.type)}, to_python(one.dims), one.nesting);
  });
}

} // namespace headrace::detail::python
