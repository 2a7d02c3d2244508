#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// Failed rows are counted, too.
class enumerate_iterator final : public operator_iterator {
public:
  enumerate_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      next_(static_cast<uint64_t>(node.count)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto out = input_->next(wanted);
    if (!out)
      return out;
    mutable_buffer numbers{out->rows * sizeof(uint64_t)};
    auto to = numbers.as<uint64_t>();
    for (size_t i = 0; i < out->rows; ++i) to[i] = next_ + i;
    next_ += out->rows;
    ++kernel_calls_;
    out->columns.insert(out->columns.begin(),
                        column::dense(dtype::int64, {}, out->rows, std::move(numbers).freeze()));
    return out;
  }
  // Numbers: the next one; parts: the input.
  void save_to(position& to) const override {
    to.numbers = {next_};
    put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    next_ = from.number();
    return from.restore(*input_);
  }

private:
  std::unique_ptr<iterator> input_;
  uint64_t next_;
};

} // namespace

opened open_enumerate(engine& shared, const dataset_ptr& node, const place& at) {
  return open_over_input<enumerate_iterator>(shared, node, at);
}

} // namespace headrace::detail
