#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

namespace headrace::detail {

/// How the values of one input of an elementwise function are assigned to those of its result.
struct aligned_operand {
  enum class mode : uint8_t {
    flat,    ///< value for value
    single,  ///< one value for all rows
    per_row, ///< one value a row
    cycled,  ///< the `period` values of each row, over and over
    pattern, ///< for value `j` of each result row, value `index[j]` of the input's row
    mapped,  ///< for value `i` of all rows, value `index[i]` of all rows; -1: none
  };
  mode how = mode::flat;
  int64_t row_stride = 0;     ///< `cycled`, `pattern`: values from row to row, 0 if uniform
  int64_t period = 0;         ///< `cycled`
  std::vector<int64_t> index; ///< `pattern` and `mapped`
};

/// The shapes of an elementwise function's result, and where each input's values go.
struct alignment {
  bool dense = true;
  shape dims;             ///< of each row, if dense
  int64_t row_values = 0; ///< if dense
  int64_t total = 0;      ///< values of all rows
  buffer row_starts;      ///< if not dense; as in a column
  buffer row_dims;
  size_t rank = 0;
  std::vector<aligned_operand> operands;

  /// A column of these shapes with `values` numbers.
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
  /// The index in `data` (over all rows) of the value for value `i` of the result. Fast if `i` is
  /// near that of the last call.
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
  /// True if the input is read in place.
  bool in_place() const noexcept { return how_.how == aligned_operand::mode::flat; }
  /// The number of values of the result after which the input's values are repeated, beginning with
  /// the first row; 0: they are not.
  int64_t period() const noexcept;
  /// Copies the values for the result's values `[first, first + n)` to `out`; numbers only.
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
