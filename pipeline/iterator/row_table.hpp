#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

namespace headrace::detail {

/// One component of the rows that are being made: values are appended one after the other.
class field_column {
public:
  explicit field_column(const tensor_spec& spec);

  template <plain_value T>
  void append(T x) {
    values_.push_back(x);
    ++count_;
  }
  void append(std::string_view x) {
    values_.append(x.data(), x.size());
    borders_.push_back(static_cast<int64_t>(values_.size()));
    ++count_;
  }
  /// Appends all values of a constant of one row.
  void append_row(const column& constant);
  /// Sets the shape of the row that is being made. Needed for values that were appended one by one,
  /// if the spec has unknown extents.
  void set_shape(shape dims) { dims_ = std::move(dims); }
  /// Completes the row. @pre as many values were appended as the shape of the row has
  void end_row() {
    row_ends_at_ = count_;
    if (!dense_)
      end_shape();
  }
  /// Removes the values that were appended since the last row.
  void drop_row();
  /// Appends the values of an error row, which are never read: zeros or empty strings; none if the
  /// spec has unknown extents, which are then zero. @pre no value was appended since the last row
  void append_nothing();

  const tensor_spec& spec() const noexcept { return spec_; }
  size_t bytes() const noexcept { return values_.size() + borders_.size(); }
  column finish(size_t rows);

private:
  void end_shape();

  const tensor_spec& spec_;
  bool dense_;
  shape dims_;             ///< the shape of the row that is being made; unused if dense
  size_t count_ = 0;       ///< the number of values
  size_t row_ends_at_ = 0; ///< the number of values in complete rows
  buffer_builder values_, borders_, row_starts_, row_dims_;
};

/// Rows that are made value by value: by sources of text and files, and by functions over elements.
class row_table {
public:
  /// @pre `specs` outlive this object
  row_table(const std::vector<tensor_spec>& specs, const limits& wanted);

  field_column& operator[](size_t i) noexcept { return columns_[i]; }
  size_t rows() const noexcept { return rows_; }
  bool full() const noexcept { return rows_ >= wanted_.rows || bytes_ >= wanted_.bytes; }

  /// Completes the row.
  void end_row();
  /// Completes the row as an error row.
  void fail_row(status why);
  /// Removes the row.
  void drop_row();
  block finish();

private:
  std::vector<field_column> columns_;
  limits wanted_;
  size_t rows_ = 0;
  size_t bytes_ = 0;
  std::vector<row_error> errors_;
};

} // namespace headrace::detail
