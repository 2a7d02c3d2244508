#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <span>

namespace headrace::detail {

/// The value of an expression for the rows of a block. A *uniform* value has one row that stands
/// for all of them.
struct value {
  column data;
  bool uniform = false;
  std::vector<row_error> errors; ///< ascending; of a uniform value, row 0 stands for all rows
};

/// One input of a column function.
struct operand {
  const column* data = nullptr;
  bool uniform = false;
  size_t row(size_t r) const noexcept { return uniform ? 0 : r; }
  int64_t first_value(size_t r) const noexcept { return data->first_value(row(r)); }
  shape shape_of(size_t r) const { return data->shape_of(row(r)); }
};

/// One call of a column function: `rows` rows of `inputs` become a column of `node.spec`.
struct op_call {
  const expr_node& node;
  std::span<const operand> inputs;
  size_t rows;
  /// One byte for each row. It is not 0 for a row that need not be evaluated, because the row
  /// failed before or its value is not chosen; the result of such a row may be any value of the
  /// spec. Null: all rows are evaluated.
  const uint8_t* skip;
  /// The errors of the rows that fail in this call, in ascending order of rows.
  std::vector<row_error>& errors;

  bool skips(size_t r) const noexcept { return skip != nullptr && skip[r] != 0; }
  bool all_dense() const noexcept {
    for (const auto& in : inputs)
      if (!in.data->is_dense())
        return false;
    return true;
  }
  void fail(size_t r, const status& why) const {
    errors.push_back({static_cast<uint32_t>(r), why.with_context(name())});
  }
  /// Adds the error `why` for all rows that are not skipped.
  void fail_all(const status& why) const;
  std::string_view name() const noexcept;
};

/// A shape that `spec` allows, with 0 for unknown extents, for rows without a value. `rank`: the
/// rank of the other rows; it is used if the spec has no rank.
shape shape_of_nothing(const tensor_spec& spec, size_t rank);

/// `rows` rows of zeros or empty strings of `spec`, for rows that have all failed.
column column_of_nothing(const tensor_spec& spec, size_t rows);

/// Builds a column row by row when shapes or bytes are not known before. Rows of one shape become a
/// dense column.
class column_builder {
public:
  column_builder(dtype type, size_t rows_expected);

  /// Room for `n` more values of the current row; numbers only.
  std::byte* extend(size_t n) { return values_.extend(n * size_); }
  /// Removes the last `n` values; numbers only.
  void take_back(size_t n) noexcept { values_.truncate(values_.size() - n * size_); }
  /// One more string of the current row.
  void add_string(std::string_view text) {
    values_.append(text.data(), text.size());
    end_string();
  }
  /// As `add_string`, in pieces: `append_bytes` any number of times, then `end_string`.
  void append_bytes(std::string_view text) { values_.append(text.data(), text.size()); }
  void end_string() { borders_.push_back(static_cast<int64_t>(values_.size())); }
  /// Ends the current row, to which as many values as `dims` has were added.
  void end_row(const shape& dims);
  /// Ends a row of zeros or empty strings. Its shape is that of the rows before it if these all
  /// have the same shape, else `dims`, so that error rows do not turn a dense column into one of
  /// variable shape. If the rows with values have another rank than `dims`, because the spec has no
  /// rank, the row has their rank. @pre nothing was added to the current row
  void end_row_of_nothing(const shape& dims);

  column finish() &&;

private:
  void add_row(const shape& dims);
  /// Gives the rows so far, which have no values, another rank.
  void set_rank_of_nothing(size_t rank);

  dtype type_;
  size_t size_;
  size_t rows_ = 0;
  bool same_ = true;
  bool only_nothing_ = true; ///< no row with values was added yet
  shape first_;
  buffer_builder values_, borders_, starts_, dims_;
  int64_t total_ = 0;
};

/// A column of `rows` copies of the only row of `one`.
column repeat_row(const column& one, size_t rows);

} // namespace headrace::detail
