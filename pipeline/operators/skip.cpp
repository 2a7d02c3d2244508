#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// Failed rows are counted, too.
class skip_iterator final : public operator_iterator {
public:
  skip_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      left_(node.count < 0 ? SIZE_MAX : static_cast<size_t>(node.count)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    constexpr size_t most = 4096; // nobody waits for these rows, but they take memory
    while (left_ != 0) {
      auto dropped = input_->next({std::min(left_, most), limits{}.bytes});
      if (!dropped)
        return std::nullopt;
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
      if (node_.count >= 0)
        left_ -= dropped->rows;
    }
    return input_->next(wanted);
  }
  // Saves: numbers: rows still to be left out; parts: the input.
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
  size_t left_;
};

} // namespace

opened open_skip(engine& shared, const dataset_ptr& node, const place& at) {
  return open_over_input<skip_iterator>(shared, node, at);
}

} // namespace headrace::detail
