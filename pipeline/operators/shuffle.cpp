#include "headrace/pipeline/iterator/random.hpp"
#include "headrace/pipeline/operators/row_reservoir.hpp"
#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// Fills a buffer of n rows; each row that leaves it is a random one, and its place goes to the
/// next row of the input. Rows that failed pass the buffer by: they come out where they came in.
class shuffle_iterator final : public operator_iterator {
public:
  shuffle_iterator(engine& shared, const dataset_node& node, const place& at,
                   std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      size_(static_cast<size_t>(node.count)),
      random_(key(shared, node, at)),
      rows_(make_row_reservoir(node.spec.components)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    rows_->start(wanted.rows);
    size_t given = 0;
    while (given < wanted.rows) {
      if (rows_->held() == size_) {
        rows_->give(random_.below(drawn_++, rows_->held()));
        ++given;
        continue;
      }
      if (at_ == in_.rows && !ended_) {
        // Each row that is given makes room for one: as many as can be needed, and no more.
        auto more = input_->next({size_ - rows_->held() + (wanted.rows - given - 1), wanted.bytes});
        at_ = 0;
        in_ = more ? *std::move(more) : block{};
        ended_ = !more;
        if (!ended_)
          rows_->set_input(in_);
      }
      if (!ended_) {
        given += accept(wanted.rows - given);
        continue;
      }
      if (rows_->held() == 0)
        break;
      rows_->give(random_.below(drawn_++, rows_->held()));
      ++given;
    }
    if (given == 0)
      return std::nullopt;
    return rows_->finish(kernel_calls_);
  }

private:
  static uint64_t key(engine& shared, const dataset_node& node, const place& at) {
    const auto once = shared.random_key(node, at);
    if (!node.flag)
      return once;
    return mix(mix(once, shared.context().repetition), at.iteration);
  }

  // Takes rows of the input while nothing must be given in between; returns the rows given.
  size_t accept(size_t most) {
    size_t given = 0;
    while (at_ < in_.rows && given < most && rows_->held() < size_) {
      if (in_.error_at(at_)) {
        rows_->pass(at_++);
        ++given;
      } else {
        rows_->put(at_++);
      }
    }
    return given;
  }

  std::unique_ptr<iterator> input_;
  const size_t size_;
  counter_random random_;
  uint64_t drawn_ = 0;
  std::unique_ptr<row_reservoir> rows_;
  block in_; ///< rows from `at_` on are not in the buffer yet
  size_t at_ = 0;
  bool ended_ = false;
};

} // namespace

opened open_shuffle(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<shuffle_iterator>(shared, *node, at, std::move(input))};
}

} // namespace headrace::detail
