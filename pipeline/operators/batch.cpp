#include "headrace/pipeline/operators/batch_columns.hpp"

#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/iterator/held_input.hpp"
#include "headrace/pipeline/operators/simple_iterator.hpp"

#include <deque>

namespace headrace::detail {

namespace {

class batch_iterator final : public operator_iterator {
public:
  batch_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      size_(static_cast<size_t>(node.count)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    fill(std::min(wanted.rows, batches_in(wanted.bytes)));
    if (held_ == 0 || (held_ < size_ && node_.flag))
      return std::nullopt;
    if (const auto rest = held_; rest < size_)
      return batch_rows(take(rest), rest);
    // Whole batches in place, if the next rows lie in one block; a batch that does not is copied.
    auto batches = front_rows() / size_;
    if (batches == 0)
      batches = front_rows() * 4 < size_ ? held_ / size_ : 1;
    return batch_rows(take(std::min(batches, wanted.rows) * size_), size_);
  }
  // A point of the input: the first row that is held.
  void save_to(position& to) const override { put(to, input_.point(input_.rows() - held_)); }
  status restore_from(position_reader& from) override { return input_.restore(from); }

private:
  size_t front_rows() const { return pieces_.front().rows; }

  // A batch must be whole, however large; more than one only if they are small.
  size_t batches_in(size_t bytes) const {
    return row_bytes_ == 0 ? 1 : std::max<size_t>(1, bytes / (row_bytes_ * size_));
  }

  // Larger batches are put together from blocks of this size.
  static constexpr size_t most_bytes = size_t{1} << 30;

  void fill(size_t batches) {
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

  block take(size_t rows) {
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
    auto out = gather_rows(pieces, runs, kernel_calls_);
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

  held_input input_;
  const size_t size_;
  std::deque<block> pieces_;
  size_t held_ = 0;      ///< rows in pieces
  size_t row_bytes_ = 0; ///< of the last input
  bool ended_ = false;
};

} // namespace

opened open_batch(engine& shared, const dataset_ptr& node, const place& at) {
  return open_over_input<batch_iterator>(shared, node, at);
}

} // namespace headrace::detail
