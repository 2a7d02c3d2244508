#include "headrace/pipeline/types/spec.hpp"

#include <algorithm>

namespace headrace {

std::string to_string(const tensor_spec& x) {
  auto out = std::string{to_string(x.type)} + to_string(x.dims);
  for (int i = 0; i < x.nesting; ++i) out = "dataset(" + out + ")";
  return out;
}

bool has_datasets(const element_spec& x) noexcept {
  return std::any_of(x.components.begin(), x.components.end(),
                     [](const auto& part) { return part.is_dataset(); });
}

structure structure::tuple(std::vector<structure> children) {
  structure out;
  out.kind_ = kind::tuple;
  out.leaves_ = 0;
  for (const auto& child : children) out.leaves_ += child.leaves();
  out.children_ = std::move(children);
  return out;
}

structure structure::named(std::vector<std::string> names, std::vector<structure> children) {
  auto out = tuple(std::move(children));
  out.kind_ = kind::named;
  out.names_ = std::move(names);
  return out;
}

structure structure::ragged(size_t axes) {
  std::vector<std::string> names{"values", "row_lengths"};
  for (size_t i = 1; i < axes; ++i) names.push_back("row_lengths_" + std::to_string(i));
  auto out = named(std::move(names), std::vector<structure>(axes + 1));
  out.kind_ = kind::ragged;
  return out;
}

structure structure::labelled(std::string label) const {
  auto out = *this;
  out.label_ = std::move(label);
  return out;
}

size_t structure::first_leaf(size_t index) const noexcept {
  size_t n = 0;
  for (size_t i = 0; i < index; ++i) n += children_[i].leaves();
  return n;
}

int structure::find(std::string_view name) const noexcept {
  for (size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name)
      return static_cast<int>(i);
  return -1;
}

namespace {

std::vector<tensor_spec> join_components(const std::vector<element_spec>& parts) {
  std::vector<tensor_spec> out;
  for (const auto& part : parts)
    out.insert(out.end(), part.components.begin(), part.components.end());
  return out;
}

std::vector<structure> layouts_of(const std::vector<element_spec>& parts) {
  std::vector<structure> out;
  for (const auto& part : parts) out.push_back(part.layout);
  return out;
}

std::string print(const structure& layout, const std::vector<tensor_spec>& specs, size_t& leaf) {
  if (layout.is_leaf())
    return to_string(specs[leaf++]);
  const bool named = layout.what() == structure::kind::named;
  std::string out = named ? "{" : layout.is_ragged() ? "ragged(" : "(";
  for (size_t i = 0; i < layout.children().size(); ++i) {
    if (i != 0)
      out += ", ";
    if (named)
      out += layout.names()[i] + ": ";
    out += print(layout.children()[i], specs, leaf);
  }
  return out + (named ? "}" : ")");
}

} // namespace

element_spec element_spec::tuple(std::vector<element_spec> parts) {
  return {structure::tuple(layouts_of(parts)), join_components(parts)};
}

element_spec element_spec::named(std::vector<std::string> names, std::vector<element_spec> parts) {
  return {structure::named(std::move(names), layouts_of(parts)), join_components(parts)};
}

element_spec element_spec::child(size_t index) const {
  auto first = components.begin() + static_cast<std::ptrdiff_t>(layout.first_leaf(index));
  const auto& part = layout.children()[index];
  return {part, {first, first + static_cast<std::ptrdiff_t>(part.leaves())}};
}

bool element_spec::accepts(const element_spec& other) const noexcept {
  if (layout != other.layout)
    return false;
  for (size_t i = 0; i < components.size(); ++i)
    if (!components[i].accepts(other.components[i]))
      return false;
  return true;
}

std::string to_string(const element_spec& x) {
  size_t leaf = 0;
  return print(x.layout, x.components, leaf);
}

} // namespace headrace
