#pragma once

#include "headrace/pipeline/types/dtype.hpp"
#include "headrace/pipeline/types/shape.hpp"

#include <string>
#include <vector>

namespace headrace {

/// The type of a tensor, as far as it is determined before the tensor is made, or the type of a
/// dataset of tensors, such as `window` makes.
struct tensor_spec {
  dtype type = dtype::int64;
  shape dims;
  /// 0: a tensor; 1: a dataset of such tensors; 2: a dataset of such datasets; and so on.
  uint8_t nesting = 0;

  bool is_dataset() const noexcept { return nesting != 0; }
  /// True if a tensor with the spec `other` is allowed where this spec is declared.
  bool accepts(const tensor_spec& other) const noexcept {
    return type == other.type && nesting == other.nesting && dims.accepts(other.dims);
  }
  friend bool operator==(const tensor_spec&, const tensor_spec&) = default;
};
/// A text such as `int64[2, ?]` or `dataset(int64[2, ?])`.
std::string to_string(const tensor_spec& x);

/// The arrangement of an element's tensors: one tensor, a tuple of structures, named structures, or
/// a ragged tensor. Leaves are numbered in depth-first order; named fields keep the order in which
/// they were given.
class structure {
public:
  enum class kind : uint8_t { leaf, tuple, named, ragged };

  /// One leaf.
  structure() = default;
  static structure tuple(std::vector<structure> children);
  /// @pre there are as many names as children, and the names differ
  static structure named(std::vector<std::string> names, std::vector<structure> children);
  /// Rows of different lengths. Leaf `values` has the values of all rows, one after another; leaf
  /// `row_lengths` (int64) has the length of each row. If `axes` is 2 or more, the parts of a row
  /// are rows, too: `row_lengths_1` has their lengths, and so on. @pre `axes` is 1 or more
  static structure ragged(size_t axes = 1);

  kind what() const noexcept { return kind_; }
  bool is_leaf() const noexcept { return kind_ == kind::leaf; }
  bool is_ragged() const noexcept { return kind_ == kind::ragged; }
  const std::vector<structure>& children() const noexcept { return children_; }
  /// The names of the children of `named` and `ragged` structures.
  const std::vector<std::string>& names() const noexcept { return names_; }
  /// The number of leaves.
  size_t leaves() const noexcept { return leaves_; }
  /// The number of the first leaf of child `index`.
  size_t first_leaf(size_t index) const noexcept;
  /// The index of the child with that name; -1 if there is none.
  int find(std::string_view name) const noexcept;

  /// The class of this structure in a client's language, such as one of Python's named tuples;
  /// empty: the usual class. Operators keep the label in their specs; `==` ignores it.
  const std::string& label() const noexcept { return label_; }
  structure labelled(std::string label) const;

  friend bool operator==(const structure& a, const structure& b) {
    return a.kind_ == b.kind_ && a.names_ == b.names_ && a.children_ == b.children_;
  }

private:
  kind kind_ = kind::leaf;
  std::vector<structure> children_;
  std::vector<std::string> names_;
  std::string label_;
  size_t leaves_ = 1;
};

/// The spec of a dataset's elements: a structure, and a tensor spec for each leaf ("component").
struct element_spec {
  structure layout;
  std::vector<tensor_spec> components; ///< as many as `layout.leaves()`

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
/// A text such as `int64[]`, `(int64[], string[?])`, `{image: uint8[64], label: int64[]}` or
/// `ragged(int64[?], int64[2])`.
std::string to_string(const element_spec& x);

/// True if one of the components is a dataset. The values of such elements can be read only by
/// operators like `flat_map`.
bool has_datasets(const element_spec& x) noexcept;

/// A cardinality is a number of elements, or one of these values.
inline constexpr int64_t infinite_cardinality = -1;
inline constexpr int64_t unknown_cardinality = -2;

} // namespace headrace
