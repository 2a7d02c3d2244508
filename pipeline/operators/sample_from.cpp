#include "headrace/pipeline/graph/build.hpp"
#include "headrace/pipeline/iterator/random.hpp"
#include "headrace/pipeline/operators/merged_inputs.hpp"
#include "headrace/pipeline/operators/open.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

/// For each row, the input is drawn by the weights of those that have not ended.
class sample_from_iterator final : public operator_iterator {
public:
  sample_from_iterator(engine& shared, const dataset_node& node, const place& at,
                       std::vector<std::unique_ptr<iterator>> inputs)
    : operator_iterator(shared, node), inputs_(std::move(inputs)), random_(key(shared, node, at)) {
    const auto weights = constant_of(node.tensors[0])->values<double>();
    weights_.assign(weights.begin(), weights.end());
    weigh();
  }

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (inputs_.taken() < wanted.rows && total_ > 0) {
      const auto which = drawn(draws_);
      if (!inputs_.has(which)
          && !inputs_.read(which, {needed(which, wanted.rows - inputs_.taken()), wanted.bytes})) {
        if (node_.flag)
          break;
        weights_[which] = 0;
        weigh();
        continue;
      }
      ++draws_;
      inputs_.take(which);
    }
    if (inputs_.taken() == 0) {
      inputs_.close();
      return std::nullopt;
    }
    return inputs_.finish(kernel_calls_);
  }
  // Saves: numbers: rows drawn, then for each input whether it is left out from now on; then points
  // of the inputs.
  void save_to(position& to) const override {
    to.numbers = {draws_};
    for (auto weight : weights_) to.numbers.push_back(weight == 0);
    inputs_.save_to(to);
  }
  status restore_from(position_reader& from) override {
    draws_ = from.number();
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (from.flag())
        weights_[i] = 0;
    weigh();
    return inputs_.restore(from);
  }

private:
  static uint64_t key(engine& shared, const dataset_node& node, const place& at) {
    const auto once = shared.random_key(node, at);
    if (node.count == 0)
      return once;
    return mix(mix(once, shared.context().repetition), at.iteration);
  }

  void weigh() {
    total_ = 0;
    for (auto x : weights_) total_ += x;
  }

  size_t drawn(uint64_t draw) {
    const auto point = static_cast<double>(random_.bits(draw) >> 11) * 0x1p-53 * total_;
    double sum = 0;
    size_t last = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0)
        continue;
      last = i;
      sum += weights_[i];
      if (point < sum)
        break;
    }
    return last;
  }

  // How many of the next `rows` rows come from input `which`, if no other input ends.
  size_t needed(size_t which, size_t rows) {
    constexpr size_t most = 4096;
    size_t out = 0;
    for (size_t i = 0; i < std::min(rows, most); ++i) out += drawn(draws_ + i) == which;
    return out;
  }

  merged_inputs inputs_;
  counter_random random_;
  std::vector<double> weights_; ///< 0 once an input ended
  double total_ = 0;
  uint64_t draws_ = 0;
};

} // namespace

opened open_sample_from(engine& shared, const dataset_ptr& node, const place& at) {
  std::vector<std::unique_ptr<iterator>> inputs;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    HEADRACE_ASSIGN(auto input, shared.make_input(node, at, i));
    inputs.push_back(std::move(input));
  }
  return std::unique_ptr<iterator>{
    std::make_unique<sample_from_iterator>(shared, *node, at, std::move(inputs))};
}

} // namespace headrace::detail
