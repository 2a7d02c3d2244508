#pragma once

#include "headrace/pipeline/types/spec.hpp"
#include "headrace/runtime/base/buffer.hpp"

#include <cassert>
#include <memory>
#include <string_view>

namespace headrace {

/// One component of consecutive elements: `rows` tensors of one dtype. Immutable; copies share the
/// buffers.
///
/// A column is *dense* if one shape is stored for all rows, else its rows have *variable* shapes.
/// The values of all rows lie one after another:
/// - numbers: the buffer of values has them in place;
/// - strings: the buffer of values has the bytes, `borders` the int64 positions of the `n + 1`
///   borders of `n` strings. The first byte of the buffer has the position `byte_base`: string `i`
///   is the bytes `[borders[i] - byte_base, borders[i + 1] - byte_base)`. Slices share the buffers.
/// Rows may also be datasets (*nested*): each is a column of its own, and has no shape.
/// Rows of variable shapes have `row_starts` (int64, `rows + 1`: row `i` has the values or strings
/// from `row_starts[i] - row_starts[0]` up to `row_starts[i + 1] - row_starts[0]`) and `row_dims`
/// (int64, `rows * rank`: the extents of each row).
class column {
public:
  column() = default;

  /// `rows` tensors of shape `dims`, stored in place. @pre `values` contains all values of the
  /// tensors; `type` is not string
  static column dense(dtype type, shape dims, size_t rows, buffer values);
  /// `rows` string tensors of shape `dims`. @pre `borders` has `rows * elements(dims) + 1` int64
  /// values
  static column strings(shape dims, size_t rows, buffer borders, buffer bytes,
                        int64_t byte_base = 0);
  /// Rows of numbers, with different shapes of one `rank`.
  static column variable(dtype type, size_t rank, size_t rows, buffer values, buffer row_starts,
                         buffer row_dims);
  /// Rows of strings, with different shapes of one `rank`.
  static column variable_strings(size_t rank, size_t rows, buffer borders, buffer bytes,
                                 int64_t byte_base, buffer row_starts, buffer row_dims);
  /// Row i is a dataset, whose elements are the rows of `rows[i]`: tensors, or datasets again.
  static column nested(dtype type, std::vector<column> rows);
  /// Makes a column of scalars.
  static column of_strings(std::span<const std::string_view> rows);
  template <plain_value T>
  static column of_scalars(std::span<const T> rows) {
    return dense(dtype_of<T>, {}, rows.size(), buffer::copy_of(rows));
  }

  dtype type() const noexcept { return type_; }
  size_t rows() const noexcept { return rows_; }
  bool is_dense() const noexcept { return dense_; }
  bool is_string() const noexcept { return type_ == dtype::string; }
  bool is_nested() const noexcept { return nested_ != nullptr; }
  /// The elements of the dataset in a row. @pre `is_nested()`
  const column& nested_row(size_t row) const noexcept { return (*nested_)[first_nested_ + row]; }
  size_t rank() const noexcept { return dense_ ? dims_.rank() : rank_; }
  /// The shape of every row. @pre `is_dense()`
  const shape& row_shape() const noexcept { return dims_; }
  /// The number of values of a row. @pre `is_dense()`
  int64_t row_elements() const noexcept { return row_elements_; }
  /// The shape of one row; for dense and variable columns.
  shape shape_of(size_t row) const;
  /// Number of values (or strings) before row `row`; `first_value(rows())` is the total.
  int64_t first_value(size_t row) const noexcept {
    return dense_ ? static_cast<int64_t>(row) * row_elements_
                  : row_starts_.as<int64_t>()[row] - row_starts_.as<int64_t>()[0];
  }
  int64_t total_values() const noexcept { return first_value(rows_); }

  /// The values of all rows, one after another. @pre `T` is the C++ type of the column's dtype
  template <plain_value T>
  std::span<const T> values() const noexcept {
    assert(dtype_of<T> == type_);
    return {reinterpret_cast<const T*>(values_.data()), static_cast<size_t>(total_values())};
  }
  /// String number `index` over all rows. @pre `is_string()`
  std::string_view string(size_t index) const noexcept {
    auto ends = borders_.as<int64_t>();
    return {reinterpret_cast<const char*>(values_.data()) + (ends[index] - byte_base_),
            static_cast<size_t>(ends[index + 1] - ends[index])};
  }
  /// Rows `[first, first + count)`; copies nothing.
  column slice(size_t first, size_t count) const;
  /// The bytes that the rows occupy: values, borders, shapes.
  size_t bytes() const noexcept;

  // -- the parts, for kernels and codecs --------------------------------------

  const buffer& value_buffer() const noexcept { return values_; }
  const buffer& border_buffer() const noexcept { return borders_; }
  const buffer& row_start_buffer() const noexcept { return row_starts_; }
  const buffer& row_dim_buffer() const noexcept { return row_dims_; }
  int64_t byte_base() const noexcept { return byte_base_; }

  /// A column of the same values, arranged as `rows` rows of shape `dims`. @pre `is_dense()`, and
  /// the result has as many values as this column
  column reshaped(shape dims, size_t rows) const;

private:
  dtype type_ = dtype::int64;
  bool dense_ = true;
  shape dims_;
  size_t rank_ = 0;
  size_t rows_ = 0;
  int64_t row_elements_ = 1;
  int64_t byte_base_ = 0;
  buffer values_, borders_, row_starts_, row_dims_;
  std::shared_ptr<const std::vector<column>> nested_;
  size_t first_nested_ = 0; ///< the index of the first row in `nested_`
};

} // namespace headrace
