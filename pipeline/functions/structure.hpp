#pragma once

#include "headrace/pipeline/functions/expr.hpp"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace {

/// Expressions in a nested structure. A lambda may take its argument, an element with this
/// structure, as an `expr_structure`, and may return one.
class expr_structure {
public:
  expr_structure(expr single) : leaves_{std::move(single)} {}
  template <class T>
  requires std::is_arithmetic_v<T> || std::convertible_to<T, std::string_view>
  expr_structure(const T& literal) : expr_structure(expr{literal}) {}
  expr_structure(structure layout, std::vector<expr> leaves)
    : layout_(std::move(layout)), leaves_(std::move(leaves)) {}
  static expr_structure tuple(const std::vector<expr_structure>& parts);
  static expr_structure named(const std::vector<std::pair<std::string, expr_structure>>& fields);

  const structure& layout() const noexcept { return layout_; }
  const std::vector<expr>& leaves() const noexcept { return leaves_; }
  /// The number of parts at the top level; a ragged tensor is one part.
  size_t size() const noexcept { return is_one() ? 1 : layout_.children().size(); }

  /// The part with the given name, or at the given index. Throws `error` if there is no such part,
  /// or if the part is itself a structure; for a structure use `child`.
  expr operator[](std::string_view name) const { return child(name).single(); }
  expr operator[](size_t index) const { return child(index).single(); }
  expr_structure child(std::string_view name) const;
  expr_structure child(size_t index) const;
  /// The only expression, if the structure is a single leaf. Throws `error` otherwise.
  const expr& single() const;
  element_spec spec() const;

private:
  bool is_one() const noexcept { return layout_.is_leaf() || layout_.is_ragged(); }
  expr_structure part(size_t index) const;

  structure layout_;
  std::vector<expr> leaves_;
};

/// A named structure, for lambdas to return: `named({{"image", x}, {"label", y}})`.
inline expr_structure named(const std::vector<std::pair<std::string, expr_structure>>& fields) {
  return expr_structure::named(fields);
}

} // namespace headrace
