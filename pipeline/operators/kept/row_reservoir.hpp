#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <memory>

namespace headrace::detail {

/// The buffer of a shuffle: rows enter it one by one, and any of them can be moved into the block
/// that is being made.
class row_reservoir {
public:
  virtual ~row_reservoir() = default;
  /// Begins a block of at most `rows` rows.
  virtual void start(size_t rows) = 0;
  /// Sets the block from which `put` and `pass` take rows; it must live until the next `set_input`.
  virtual void set_input(const block& in) = 0;
  /// Moves a row of the input into the buffer. @pre the row is not an error row
  virtual void put(size_t row) = 0;
  /// Moves a row of the input directly into the block. @pre the row is an error row
  virtual void pass(size_t row) = 0;
  /// Moves the row at place `index` into the block. @pre `index < held()`
  virtual void give(size_t index) = 0;
  /// A hint that the row at place `index` is likely to be moved soon.
  virtual void prefetch(size_t index) const = 0;
  /// Completes the block and returns it: the rows that `pass` and `give` have moved since `start`.
  virtual block finish(uint64_t& kernel_calls) = 0;

  /// Permutes the rows: place i gets the row of place `from[i]`. @pre `from` is a permutation
  virtual void arrange(const std::vector<uint32_t>& from) = 0;

  size_t held() const noexcept { return held_; }

protected:
  size_t held_ = 0;
};

/// Makes a reservoir for rows with these specs. It copies small rows of fixed size into its own
/// storage. Other rows stay in their blocks, which together contain little more than three times as
/// many rows as the reservoir.
std::unique_ptr<row_reservoir> make_row_reservoir(const std::vector<tensor_spec>& specs);

} // namespace headrace::detail
