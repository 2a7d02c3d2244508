#include "headrace/pipeline/operators/batches/held_batches.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

// The most bytes of one block of the input. A batch that is larger is made of several such blocks.
constexpr size_t most_bytes = size_t{1} << 30;

} // namespace

std::optional<held_batches::batches> held_batches::next(const limits& wanted,
                                                        uint64_t& kernel_calls) {
  fill(std::min(wanted.rows, batches_in(wanted.bytes)));
  const auto held = held_.held();
  if (held == 0 || (held < size_ && drop_remainder_))
    return std::nullopt;
  if (held < size_)
    return batches{take(held, kernel_calls), held};
  // Batches whose rows lie in one block are returned without a copy. A batch whose rows lie in
  // several blocks is copied; if the first block has less than a quarter of a batch, all complete
  // batches are copied together.
  const auto front = held_.front().rows;
  auto count = front / size_;
  if (count == 0)
    count = front * 4 < size_ ? held / size_ : 1;
  return batches{take(std::min(count, wanted.rows) * size_, kernel_calls), size_};
}

// The number of batches that fit in `bytes`, at least 1: a single batch is returned whatever its
// size.
size_t held_batches::batches_in(size_t bytes) const {
  if (bytes == SIZE_MAX)
    return bytes; // there is no bound
  return row_bytes_ == 0 ? 1 : std::max<size_t>(1, bytes / (row_bytes_ * size_));
}

void held_batches::fill(size_t batches) {
  const auto before = held_.held();
  held_.fill(size_, batches > SIZE_MAX / size_ ? SIZE_MAX : batches * size_, most_bytes);
  if (held_.held() != before)
    row_bytes_ = std::max<size_t>(1, held_.back().bytes() / held_.back().rows);
}

block held_batches::take(size_t rows, uint64_t& kernel_calls) {
  auto out = held_.first(rows, kernel_calls);
  held_.drop(rows);
  return out;
}

} // namespace headrace::detail
