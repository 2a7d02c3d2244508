#pragma once

#include "headrace/pipeline/engine/held_input.hpp"
#include "headrace/pipeline/iterator/gather.hpp"

namespace headrace::detail {

/// Several inputs whose rows are returned in an order that is chosen row by row.
class merged_inputs {
public:
  explicit merged_inputs(std::vector<std::unique_ptr<iterator>> inputs);

  size_t size() const noexcept { return inputs_.size(); }
  /// True if the input was found to have no more rows.
  bool ended(size_t input) const noexcept { return inputs_[input].ended; }
  /// Drops all inputs: nothing more is read.
  void close() { inputs_.clear(); }
  /// The number of inputs whose end was not found yet.
  size_t open() const noexcept { return open_; }
  /// True if a row of the input is ready. If not, `read` must be called before `take`.
  bool has(size_t input) const noexcept { return inputs_[input].at < inputs_[input].rows.rows; }
  /// Reads 1 to `wanted.rows` rows; false: the input has ended.
  bool read(size_t input, const limits& wanted);
  /// Appends the input's next row to the output. @pre `has(input)`
  void take(size_t input);
  /// Appends a row that belongs to no input.
  void add(block row);
  /// The number of rows appended since the last `finish`.
  size_t taken() const noexcept { return taken_; }
  /// A block of all appended rows. @pre `taken() > 0`
  block finish(uint64_t& kernel_calls);

  /// Saves, for each input, the point of the first row that was not taken.
  void save_to(position& to) const;
  status restore(position_reader& from);

private:
  static constexpr uint32_t none = UINT32_MAX;
  struct source {
    held_input from;
    block rows; ///< the rows from `at` on were not taken
    size_t at = 0;
    uint32_t piece = none; ///< the index of `rows` among the pieces
    bool ended = false;
  };

  std::vector<source> inputs_;
  size_t open_;
  std::vector<block> pieces_;
  std::vector<row_run> runs_;
  size_t taken_ = 0;
};

} // namespace headrace::detail
