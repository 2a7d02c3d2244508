#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// Rows that failed count as the others do.
class skip_iterator final : public operator_iterator {
public:
  skip_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      count_(node.as<skip_parameters>().count),
      left_(count_ < 0 ? SIZE_MAX : static_cast<size_t>(count_)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    constexpr size_t most = 4096; // nobody waits for these, but they take memory
    while (left_ != 0) {
      auto dropped = input_->next({std::min(left_, most), limits{}.bytes});
      if (!dropped)
        return std::nullopt;
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
      if (count_ >= 0)
        left_ -= dropped->rows;
    }
    return input_->next(wanted);
  }
  // Numbers: rows to leave out yet; parts: the input.
  void save_to(position& to) const override {
    to.numbers = {left_};
    put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    left_ = from.number(left_);
    return from.restore(*input_);
  }

private:
  std::unique_ptr<iterator> input_;
  const int64_t count_; ///< negative: all
  size_t left_;
};

} // namespace

opened open_skip(engine& shared, const dataset_ptr& node, const place& at) {
  return open_over_input<skip_iterator>(shared, node, at);
}

} // namespace headrace::detail
