#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

namespace headrace::detail {

/// The assignment of the values of one input of an elementwise function to the values of the
/// result.
struct aligned_operand {
  enum class mode : uint8_t {
    flat,    ///< value `i` of the input to value `i` of the result
    single,  ///< the only value of the input to all values of the result
    per_row, ///< the only value of an input row to all values of the result row
    cycled,  ///< the `period` values of an input row in turn to the values of the result row
    pattern, ///< value `index[j]` of an input row to value `j` of the result row
    mapped,  ///< value `index[i]` of all input rows to value `i` of all result rows; -1: no value
  };
  mode how = mode::flat;
  int64_t row_stride = 0;     ///< for `cycled`, `pattern`: values of an input row; 0 if uniform
  int64_t period = 0;         ///< for `cycled`
  std::vector<int64_t> index; ///< for `pattern` and `mapped`
};

/// The shapes of the result of an elementwise function, and the assignment of each input's values.
struct alignment {
  bool dense = true;
  shape dims;             ///< of each row, if dense
  int64_t row_values = 0; ///< if dense
  int64_t total = 0;      ///< the number of values of all rows
  buffer row_starts;      ///< if not dense; as in a column
  buffer row_dims;
  size_t rank = 0;
  std::vector<aligned_operand> operands;

  /// A column with these shapes, of the numbers in `values`.
  column make(dtype type, size_t rows, buffer values) const;
  int64_t first_value(size_t row) const noexcept {
    if (dense)
      return static_cast<int64_t>(row) * row_values;
    const auto starts = row_starts.as<int64_t>();
    return starts[row] - starts[0];
  }
};

/// Broadcasts the inputs of `call` to each other, row by row. Rows whose shapes are not compatible
/// fail.
alignment align(const op_call& call);

/// Reads the values of one input in the order of a result's values.
class operand_reader {
public:
  operand_reader(const alignment& all, size_t operand, const column& data) noexcept
    : all_(all),
      how_(all.operands[operand]),
      data_(data),
      fill_(kernels::find_fill(size_of(data.type()))) {}
  /// The index in `data`, counted over all rows, of the value that is assigned to value `i` of the
  /// result; -1 if there is none. A call is fast if `i` is near the `i` of the call before.
  int64_t source(int64_t i) {
    switch (how_.how) {
    case aligned_operand::mode::flat: return i;
    case aligned_operand::mode::single: return 0;
    case aligned_operand::mode::per_row: return row_of(i);
    case aligned_operand::mode::cycled:
      return i / all_.row_values * how_.row_stride + i % how_.period;
    case aligned_operand::mode::pattern: {
      const auto row = i / all_.row_values;
      return row * how_.row_stride + how_.index[static_cast<size_t>(i - row * all_.row_values)];
    }
    case aligned_operand::mode::mapped: return how_.index[static_cast<size_t>(i)];
    }
    return 0;
  }
  /// True if the input's values are those of the result, in the same order, so that they can be
  /// read where they are.
  bool in_place() const noexcept { return how_.how == aligned_operand::mode::flat; }
  /// If the values that are assigned to the whole result repeat with one period, the length of the
  /// period; else 0.
  int64_t period() const noexcept;
  /// Copies the values that are assigned to values `[first, first + n)` of the result to `out`. The
  /// values must be numbers or bools.
  void load(std::byte* out, int64_t first, size_t n);

private:
  int64_t row_of(int64_t i);
  template <class T>
  void load_as(T* out, int64_t first, size_t n);

  const alignment& all_;
  const aligned_operand& how_;
  const column& data_;
  kernels::fill_fn fill_;
  size_t row_ = 0;
};

} // namespace headrace::detail
