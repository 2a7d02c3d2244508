#include "headrace/pipeline/operators/held_batches.hpp"

#include "headrace/pipeline/iterator/gather.hpp"

namespace headrace::detail {

namespace {

// Larger batches are put together from blocks of this size.
constexpr size_t most_bytes = size_t{1} << 30;

} // namespace

std::optional<held_batches::batches> held_batches::next(const limits& wanted,
                                                        uint64_t& kernel_calls) {
  fill(std::min(wanted.rows, batches_in(wanted.bytes)));
  if (held_ == 0 || (held_ < size_ && drop_remainder_))
    return std::nullopt;
  if (const auto rest = held_; rest < size_)
    return batches{take(rest, kernel_calls), rest};
  // Whole batches in place, if the next rows lie in one block; a batch that does not is copied.
  const auto front = pieces_.front().rows;
  auto count = front / size_;
  if (count == 0)
    count = front * 4 < size_ ? held_ / size_ : 1;
  return batches{take(std::min(count, wanted.rows) * size_, kernel_calls), size_};
}

// A batch must be whole, however large; more than one only if they are small.
size_t held_batches::batches_in(size_t bytes) const {
  if (bytes == SIZE_MAX)
    return bytes; // no bound
  return row_bytes_ == 0 ? 1 : std::max<size_t>(1, bytes / (row_bytes_ * size_));
}

void held_batches::fill(size_t batches) {
  const auto most = batches > SIZE_MAX / size_ ? SIZE_MAX : batches * size_;
  while (held_ < size_ && !ended_) {
    auto more = input_.next({most - held_, most_bytes});
    if (!more) {
      ended_ = true;
      return;
    }
    row_bytes_ = std::max<size_t>(1, more->bytes() / more->rows);
    held_ += more->rows;
    pieces_.push_back(*std::move(more));
  }
}

block held_batches::take(size_t rows, uint64_t& kernel_calls) {
  std::vector<row_run> runs;
  std::vector<const block*> pieces;
  auto left = rows;
  for (const auto& piece : pieces_) {
    if (left == 0)
      break;
    const auto count = std::min(left, piece.rows);
    runs.push_back({static_cast<uint32_t>(pieces.size()), 0, static_cast<uint32_t>(count)});
    pieces.push_back(&piece);
    left -= count;
  }
  auto out = gather_rows(pieces, runs, kernel_calls);
  held_ -= rows;
  input_.release_before(input_.rows() - held_);
  while (rows != 0 && rows >= pieces_.front().rows) {
    rows -= pieces_.front().rows;
    pieces_.pop_front();
  }
  if (rows != 0)
    pieces_.front() = pieces_.front().slice(rows, pieces_.front().rows - rows);
  return out;
}

} // namespace headrace::detail
