#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headrace {

/// The extents of a tensor: each is known (>= 0) or `unknown`; the rank may be unknown, too.
class shape {
public:
  static constexpr int64_t unknown = -1;
  /// The most values of a tensor. More would be a mistake, or an attack.
  static constexpr int64_t most_values = int64_t{1} << 40;

  /// A scalar.
  shape() = default;
  shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
  explicit shape(std::span<const int64_t> dims) : dims_(dims.begin(), dims.end()) {}
  static shape unknown_rank() {
    shape x;
    x.known_rank_ = false;
    return x;
  }

  bool has_rank() const noexcept { return known_rank_; }
  /// @pre `has_rank()`
  size_t rank() const noexcept { return dims_.size(); }
  std::span<const int64_t> dims() const noexcept { return dims_; }
  int64_t operator[](size_t axis) const noexcept { return dims_[axis]; }
  bool is_scalar() const noexcept { return known_rank_ && dims_.empty(); }
  /// True if all extents are known.
  bool is_static() const noexcept;
  /// The number of values, if `is_static()`. @pre `is_bounded()`
  std::optional<int64_t> elements() const noexcept;
  /// True if no extent is below `unknown`, and the product of the known extents is at most
  /// `most_values`, where an extent of 0 counts as 1. So no product of some of the extents
  /// overflows, and none is much larger than the tensor that a function makes of them.
  bool is_bounded() const noexcept { return are_bounded(dims_); }
  static bool are_bounded(std::span<const int64_t> dims) noexcept;

  /// True if a value of shape `other` is allowed where this shape is declared.
  bool accepts(const shape& other) const noexcept;
  /// The most precise shape that accepts both.
  static shape join(const shape& a, const shape& b);
  /// `extent` followed by the extents of this shape, as for the result of `batch`.
  shape with_leading(int64_t extent) const;
  /// The shape without the first extent. @pre `!has_rank() || rank() > 0`
  shape without_leading() const;

  friend bool operator==(const shape&, const shape&) = default;

private:
  std::vector<int64_t> dims_;
  bool known_rank_ = true;
};

/// Ok for a bounded shape. An error names the shape and the bound.
status check_bounded(const shape& x);

/// A text such as `[2, ?, 3]`; `[]` for a scalar; `<unknown>` without a rank.
std::string to_string(const shape& x);

} // namespace headrace
