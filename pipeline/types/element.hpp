#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <memory>
#include <stdexcept>

namespace headrace {

/// A view of one row of one column: a tensor of known dtype and shape. Valid as long as its
/// element.
class tensor_view {
public:
  tensor_view(const column& values, size_t row) noexcept : column_(&values), row_(row) {}

  dtype type() const noexcept { return column_->type(); }
  shape dims() const { return column_->shape_of(row_); }
  size_t elements() const noexcept {
    return static_cast<size_t>(column_->first_value(row_ + 1) - column_->first_value(row_));
  }
  /// The values in row-major order. Throws `error` (invalid_argument) if `T` is not the dtype's
  /// type.
  template <plain_value T>
  std::span<const T> as() const {
    if (dtype_of<T> != type())
      wrong_type(dtype_of<T>);
    return column_->values<T>().subspan(static_cast<size_t>(column_->first_value(row_)),
                                        elements());
  }
  /// The only value. Throws `error` if `T` is not the dtype's type or there is not exactly one
  /// value.
  template <plain_value T>
  T scalar() const {
    auto xs = as<T>();
    if (xs.size() != 1)
      not_scalar();
    return xs[0];
  }
  /// String `index` in row-major order. Throws `error` if this is not a string tensor or has fewer
  /// strings.
  std::string_view string(size_t index = 0) const;

private:
  [[noreturn]] void wrong_type(dtype asked) const;
  [[noreturn]] void not_scalar() const;
  const column* column_;
  size_t row_;
};

/// One element: a light handle to a row of a shared block. Copies keep the block alive.
class element {
public:
  element() noexcept = default;
  element(std::shared_ptr<const block> rows, std::shared_ptr<const element_spec> spec,
          size_t row) noexcept
    : block_(std::move(rows)), spec_(std::move(spec)), row_(row) {}

  /// The number of components: the leaves of the element's structure.
  size_t size() const noexcept { return block_->columns.size(); }
  /// Component `index`, depth first. @pre `index < size()`
  tensor_view operator[](size_t index) const noexcept { return {block_->columns[index], row_}; }
  /// The component with that field name at the top level. Throws `error` with the names of the
  /// fields if there is none.
  tensor_view operator[](std::string_view name) const;
  const element_spec& spec() const noexcept { return *spec_; }

  const block& rows() const noexcept { return *block_; }
  size_t row() const noexcept { return row_; }
  /// Moves this handle to another row of its block, without touching the reference count.
  void set_row(size_t row) noexcept { row_ = row; }

private:
  std::shared_ptr<const block> block_;
  std::shared_ptr<const element_spec> spec_;
  size_t row_ = 0;
};

/// A text for users: `7`, `[1, 2, 3]`, `(1, "a")`. Of a large tensor only the first values are
/// included.
std::string to_string(const element& x);

} // namespace headrace
