#pragma once

#include "headrace/pipeline/types/dtype.hpp"
#include "headrace/pipeline/types/shape.hpp"

#include <string>
#include <vector>

namespace headrace {

/// What is known of a tensor before it is there.
struct tensor_spec {
  dtype type = dtype::int64;
  shape dims;

  /// Could a tensor announced as `other` stand where this is announced?
  bool accepts(const tensor_spec& other) const noexcept {
    return type == other.type && dims.accepts(other.dims);
  }
  friend bool operator==(const tensor_spec&, const tensor_spec&) = default;
};
/// `int64[2, ?]`
std::string to_string(const tensor_spec& x);

/// How an element's tensors are arranged: one tensor, a tuple of structures, or named structures.
/// Leaves are numbered in depth-first order; named fields keep the order in which they were given.
class structure {
public:
  enum class kind : uint8_t { leaf, tuple, named };

  /// One leaf.
  structure() = default;
  static structure tuple(std::vector<structure> children);
  /// @pre names are as many as children, and differ.
  static structure named(std::vector<std::string> names, std::vector<structure> children);

  kind what() const noexcept { return kind_; }
  bool is_leaf() const noexcept { return kind_ == kind::leaf; }
  const std::vector<structure>& children() const noexcept { return children_; }
  /// Only for `named`.
  const std::vector<std::string>& names() const noexcept { return names_; }
  /// Number of leaves.
  size_t leaves() const noexcept { return leaves_; }
  /// The first leaf number of child `index`.
  size_t first_leaf(size_t index) const noexcept;
  /// Child of that name, or -1.
  int find(std::string_view name) const noexcept;

  friend bool operator==(const structure&, const structure&) = default;

private:
  kind kind_ = kind::leaf;
  std::vector<structure> children_;
  std::vector<std::string> names_;
  size_t leaves_ = 1;
};

/// The spec of a dataset's elements: an arrangement and one tensor spec a leaf ("component").
struct element_spec {
  structure layout;
  std::vector<tensor_spec> components; ///< `layout.leaves()` of them

  element_spec() = default;
  element_spec(tensor_spec single) : components{std::move(single)} {}
  element_spec(structure arrangement, std::vector<tensor_spec> specs)
    : layout(std::move(arrangement)), components(std::move(specs)) {}
  static element_spec tuple(std::vector<element_spec> parts);
  static element_spec named(std::vector<std::string> names, std::vector<element_spec> parts);
  /// The spec of child `index` of the top level.
  element_spec child(size_t index) const;

  bool accepts(const element_spec& other) const noexcept;
  friend bool operator==(const element_spec&, const element_spec&) = default;
};
/// `int64[]`, `(int64[], string[?])`, `{image: uint8[64], label: int64[]}`
std::string to_string(const element_spec& x);

/// Elements in a dataset when known; otherwise one of these.
inline constexpr int64_t infinite_cardinality = -1;
inline constexpr int64_t unknown_cardinality = -2;

} // namespace headrace
