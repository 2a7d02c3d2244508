#pragma once

#include "headrace/pipeline/functions/representation/expression_makers.hpp"

#include <concepts>
#include <optional>
#include <span>

namespace headrace {

/// A tensor in a traced function, such as a lambda that is given to `map`. An `expr` is cheap to
/// copy. Each operator or function below records a node and checks it at once: if dtypes or shapes
/// do not fit, it throws `error` (invalid_argument), which names the function and the argument.
/// Operands of different shapes broadcast by numpy's rules, in each row separately.
///
/// C++ numbers, bools and strings convert to constants. Beside another operand such a literal takes
/// that operand's dtype if its value fits (`x + 1` is float32 if `x` is; an integer literal must be
/// in range, a floating-point literal needs a float or complex operand). Any other mix of dtypes is
/// an error: use `cast`.
class expr {
public:
  explicit expr(expr_ptr node) noexcept : node_(std::move(node)) {}
  template <class T>
  requires std::is_arithmetic_v<T> expr(T literal)
    : node_(make_literal(static_cast<literal_type<T>>(literal))), literal_(true) {}
  expr(float16 literal);
  expr(bfloat16 literal);
  expr(const char* literal) : expr(std::string_view{literal}) {}
  expr(const std::string& literal) : expr(std::string_view{literal}) {}
  expr(std::string_view literal);

  const expr_ptr& node() const noexcept { return node_; }
  const tensor_spec& spec() const noexcept { return node_->spec; }
  dtype type() const noexcept { return node_->spec.type; }
  const shape& dims() const noexcept { return node_->spec.dims; }
  /// True if this is a C++ literal, which takes the dtype of another operand.
  bool is_literal() const noexcept { return literal_; }

  /// The part at `index` along the first axis; a negative index counts from the end. For an index
  /// past either end, throws `error` if the extent is known; otherwise it is an error of the row.
  template <std::integral T>
  expr operator[](T index) const {
    return part(static_cast<int64_t>(index));
  }
  /// Returns `gather(*this, index)`: the index is computed for each row, and must not be negative.
  expr operator[](const expr& index) const;
  /// numpy's `x[start:stop:step]` along the first axis.
  expr slice(int64_t start, int64_t stop, int64_t step = 1) const;
  /// numpy's basic indexing; see namespace `at` for the parts.
  expr slice(std::vector<slice_spec> parts) const;

private:
  expr part(int64_t index) const;

  template <class T>
  using literal_type = std::conditional_t<
    std::is_floating_point_v<T>, std::conditional_t<(sizeof(T) > 8), double, T>,
    std::conditional_t<
      std::is_same_v<T, bool>, bool,
      std::conditional_t<
        std::is_signed_v<T>,
        std::conditional_t<
          sizeof(T) == 1, int8_t,
          std::conditional_t<sizeof(T) == 2, int16_t,
                             std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>>,
        std::conditional_t<
          sizeof(T) == 1, uint8_t,
          std::conditional_t<sizeof(T) == 2, uint16_t,
                             std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>>>>;
  template <plain_value T>
  static expr_ptr make_literal(T value) {
    return detail::make_constant(column::of_scalars(std::span<const T>{&value, 1})).value();
  }
  expr_ptr node_;
  bool literal_ = false;
};

/// The parts of `expr::slice`, as in numpy: `x.slice({at::all(), at::index(3), at::range(0, 2)})`.
namespace at {
slice_spec index(int64_t i);
slice_spec all(int64_t step = 1);                                ///< `:`
slice_spec range(int64_t start, int64_t stop, int64_t step = 1); ///< `start:stop:step`
slice_spec from(int64_t start, int64_t step = 1);                ///< `start:`
slice_spec until(int64_t stop, int64_t step = 1);                ///< `:stop`
slice_spec new_axis();
slice_spec ellipsis(); ///< `...`: a `:` for each axis that no other part indexes
} // namespace at

// -- constants ----------------------------------------------------------------

/// A constant with `values` in row-major order; a vector unless `dims` is given. Throws `error` if
/// the number of values is not that of a tensor of shape `dims`.
template <plain_value T>
expr constant(std::span<const T> values, std::optional<shape> dims = std::nullopt);
template <plain_value T>
requires(!std::same_as<T, bool>) expr
  constant(const std::vector<T>& values, std::optional<shape> dims = std::nullopt) {
  return constant(std::span<const T>{values}, std::move(dims));
}
expr constant(const std::vector<bool>& values, std::optional<shape> dims = std::nullopt);
expr constant(const std::vector<std::string>& values, std::optional<shape> dims = std::nullopt);
/// A scalar of the C++ type's dtype. Unlike a literal, it does not take another operand's dtype.
template <class T>
requires std::is_arithmetic_v<T> expr constant(T value) { return expr{expr{value}.node()}; }
/// A constant whose value is the only row of a column. Throws `error` if the column does not have
/// exactly one row.
expr constant(column one_row);

// -- arithmetic ---------------------------------------------------------------

/// Integers wrap around on overflow. Both operands must have one dtype (for literals see `expr`).
expr operator+(const expr& a, const expr& b); ///< also joins strings
expr operator-(const expr& a, const expr& b);
expr operator*(const expr& a, const expr& b);
/// The quotient of integers is rounded towards zero, as in C++ (see also `floor_div`). An integer
/// divisor of zero is an error of the row.
expr operator/(const expr& a, const expr& b);
/// As in C++, the result has the sign of the dividend; for floats it is `fmod`. An integer divisor
/// of zero is an error of the row.
expr operator%(const expr& a, const expr& b);
expr operator-(const expr& x);
expr floor_div(const expr& a, const expr& b); ///< rounds towards minus infinity
expr floor_mod(const expr& a, const expr& b); ///< has the sign of the divisor
expr abs(const expr& x);
expr square(const expr& x);
expr sign(const expr& x);                   ///< -1, 0 or 1; NaN for NaN
expr minimum(const expr& a, const expr& b); ///< NaN if `a` or `b` is NaN
expr maximum(const expr& a, const expr& b); ///< NaN if `a` or `b` is NaN
/// Powers of integers wrap around, and a negative exponent is an error of the row. Powers of floats
/// are defined as for C's `pow`, also for 0, infinity and NaN.
expr pow(const expr& base, const expr& exponent);

/// Functions of floats. The results differ from the exact ones by a few units in the last place at
/// most, and have the same bits on every CPU. For 16-bit floats they are computed in float32 and
/// rounded.
expr sqrt(const expr& x);
expr exp(const expr& x);
expr log(const expr& x);
expr tanh(const expr& x);
expr sin(const expr& x);
expr cos(const expr& x);
expr floor(const expr& x);
expr ceil(const expr& x);
expr round(const expr& x); ///< to the nearest integer; halves to the nearest even integer
expr is_nan(const expr& x);

// -- comparison and logic -----------------------------------------------------

/// The comparisons work value by value. `==` and `!=` accept every dtype, the other operators
/// accept real numbers and strings, which are compared bytewise.
expr operator==(const expr& a, const expr& b);
expr operator!=(const expr& a, const expr& b);
expr operator<(const expr& a, const expr& b);
expr operator<=(const expr& a, const expr& b);
expr operator>(const expr& a, const expr& b);
expr operator>=(const expr& a, const expr& b);
/// The logical operators take bools and work value by value. Both operands are evaluated.
expr operator&&(const expr& a, const expr& b);
expr operator||(const expr& a, const expr& b);
expr operator!(const expr& x);
/// The bitwise operators take integers or bools.
expr operator&(const expr& a, const expr& b);
expr operator|(const expr& a, const expr& b);
expr operator^(const expr& a, const expr& b);
/// The shifts take integers. If the count is negative, or at least the number of bits of the dtype,
/// the result is 0, except that it is -1 if a negative number is shifted to the right.
expr operator<<(const expr& a, const expr& b);
expr operator>>(const expr& a, const expr& b);

// -- choice and conversion ----------------------------------------------------

/// `x` where `condition` is true, else `y`, value by value. A row that chooses no value of `x`, or
/// none of `y`, cannot fail because of that operand: `where(n != 0, 100 / n, 0)` cannot fail
/// if `n` is a scalar.
expr where(const expr& condition, const expr& x, const expr& y);
/// Converts numbers and bools to another dtype; complex numbers only to a complex dtype. For an
/// integer dtype, fractions are cut off, and a value that is out of range or NaN is an error of the
/// row. For a float dtype, values are rounded to the nearest float. For bool, only 0 becomes false.
expr cast(const expr& x, dtype type);
template <plain_value T>
expr cast(const expr& x) {
  return cast(x, dtype_of<T>);
}

// -- reductions ---------------------------------------------------------------

/// The reductions combine the values of each row along `axes` (empty: along all axes). Floats are
/// added in the same order on every CPU.
expr reduce_sum(const expr& x, std::vector<int64_t> axes = {}, bool keepdims = false);
expr reduce_mean(const expr& x, std::vector<int64_t> axes = {}, bool keepdims = false);
expr reduce_max(const expr& x, std::vector<int64_t> axes = {}, bool keepdims = false);
expr reduce_min(const expr& x, std::vector<int64_t> axes = {}, bool keepdims = false);
expr reduce_prod(const expr& x, std::vector<int64_t> axes = {}, bool keepdims = false);
expr reduce_all(const expr& x, std::vector<int64_t> axes = {}, bool keepdims = false);
expr reduce_any(const expr& x, std::vector<int64_t> axes = {}, bool keepdims = false);
/// The index (int64) of the largest or smallest value along `axis`, the first of equal ones. An
/// empty axis is an error.
expr argmax(const expr& x, int64_t axis = 0);
expr argmin(const expr& x, int64_t axis = 0);

// -- shape --------------------------------------------------------------------

/// One extent: a number, or an integer scalar that may differ from element to element.
class extent {
public:
  template <std::integral T>
  extent(T known) : known_(static_cast<int64_t>(known)) {}
  extent(const expr& computed);

  /// The number, if it is the same for all elements.
  const std::optional<int64_t>& known() const noexcept { return known_; }
  /// @pre the number is not known
  const expr& computed() const { return *computed_; }

private:
  std::optional<int64_t> known_;
  std::optional<expr> computed_;
};

/// The extents of a shape, or the numbers of repetitions along its axes. If one of them differs
/// from element to element, so does the shape of the result.
class extents {
public:
  extents(std::initializer_list<extent> parts) : parts_(parts) {}
  extents(std::vector<extent> parts) : parts_(std::move(parts)) {}
  extents(const std::vector<int64_t>& known) : parts_(known.begin(), known.end()) {}
  /// The extents of `known`; for a shape without a rank, a single unknown extent.
  extents(const shape& known);
  /// The values of an integer vector, such as `shape_of` returns, or of an integer scalar. Throws
  /// `error` for any other tensor, and if the length of the vector is not known.
  extents(const expr& vector);

  const std::vector<extent>& parts() const noexcept { return parts_; }
  /// The extents, if they are the same for all elements; else nullopt.
  std::optional<std::vector<int64_t>> known() const;

private:
  std::vector<extent> parts_;
};

expr reshape(const expr& x, const extents& dims); ///< one extent may be -1
expr stack(const std::vector<expr>& xs, int64_t axis = 0);
expr concat(const std::vector<expr>& xs, int64_t axis);
/// Permutes the axes by `permutation`; if that is empty, reverses their order.
expr transpose(const expr& x, std::vector<int64_t> permutation = {});
expr expand_dims(const expr& x, int64_t axis);
/// Removes `axes`, whose extents must be 1. If `axes` is empty, removes all axes of extent 1; then
/// all extents must be known.
expr squeeze(const expr& x, std::vector<int64_t> axes = {});
expr shape_of(const expr& x); ///< int64 vector
expr size(const expr& x);     ///< int64 scalar
expr fill(const extents& dims, const expr& scalar);
/// The parts of `x` at integer `indices` (of any shape) along `axis`. An index must be in
/// `[0, extent)`; any other is an error of the row.
expr gather(const expr& x, const expr& indices, int64_t axis = 0);
/// Like `gather(x, indices, axis)` for each batch separately. The first `batch_dims` axes of `x`
/// and of `indices`, whose extents must be equal, number the batches. `axis` must be at least
/// `batch_dims`.
expr gather(const expr& x, const expr& indices, int64_t axis, int64_t batch_dims);

} // namespace headrace
