#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <memory>

namespace headrace::detail {

/// The buffer of a shuffle: rows go in one by one, and any of them comes out into the block that is
/// being made.
class row_reservoir {
public:
  virtual ~row_reservoir() = default;
  /// Begins a block of at most `rows` rows.
  virtual void start(size_t rows) = 0;
  /// `in` is the block that `put` and `pass` speak of from now on; it stays until the next one.
  virtual void set_input(const block& in) = 0;
  /// Takes a row of the input in. @pre it did not fail
  virtual void put(size_t row) = 0;
  /// Gives a row of the input straight away.
  virtual void pass(size_t row) = 0;
  /// Gives the row in place `index`. @pre `index < held()`
  virtual void give(size_t index) = 0;
  /// The row in place `index` is likely to be given soon.
  virtual void prefetch(size_t index) const = 0;
  /// The block of what was given since `start`.
  virtual block finish(uint64_t& kernel_calls) = 0;

  /// Puts the rows in other places: into place i the one in place `from[i]`. @pre a permutation
  virtual void arrange(const std::vector<uint32_t>& from) = 0;

  size_t held() const noexcept { return held_; }

protected:
  size_t held_ = 0;
};

/// Copies small rows of known size into places of its own; refers to others in their blocks, of
/// which it keeps little more than twice the rows it holds.
std::unique_ptr<row_reservoir> make_row_reservoir(const std::vector<tensor_spec>& specs);

} // namespace headrace::detail
