#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// Failed rows are counted, too.
class skip_iterator final : public operator_iterator {
public:
  skip_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      count_(node.as<skip_parameters>().count),
      left_(count_ < 0 ? SIZE_MAX : static_cast<size_t>(count_)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    constexpr size_t most = 4096; // nobody waits for these rows, but they take memory
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
  const int64_t count_; ///< negative: all
  size_t left_;
};

void encode_skip(const dataset_node& node, node_writer& to) {
  to.over_input(to.out.initSkip()).setCount(node.as<skip_parameters>().count);
}

result<dataset_ptr> decode_skip(node_reader& from) {
  const auto in = from.in.getSkip();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_skip(std::move(rows), in.getCount());
}

std::string shown_skip(const dataset_node& node) {
  return std::to_string(node.as<skip_parameters>().count);
}

} // namespace

constinit const operator_record skip_record{
  .name = "skip",
  .arm = schema::Dataset::SKIP,
  .encode = encode_skip,
  .decode = decode_skip,
  .open = open_over_input<skip_iterator>,
  .shown = shown_skip,
};

} // namespace headrace::detail
