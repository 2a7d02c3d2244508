#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/operators/mixes/merged_inputs.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

/// For each row, an input is drawn by the weights of the inputs that have not ended.
class sample_from_iterator final : public operator_iterator {
public:
  sample_from_iterator(engine& shared, const dataset_node& node, const place& at,
                       std::vector<std::unique_ptr<iterator>> inputs)
    : operator_iterator(shared, node),
      inputs_(std::move(inputs)),
      random_(key(shared, node, at)),
      weights_(node.as<sample_from_parameters>().weights) {
    weigh();
  }

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (inputs_.taken() < wanted.rows && total_ > 0) {
      const auto which = drawn(draws_);
      if (!inputs_.has(which)
          && !inputs_.read(which, {needed(which, wanted.rows - inputs_.taken()), wanted.bytes})) {
        if (node_.as<sample_from_parameters>().stop_on_empty)
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
  // Saves the number of drawn rows; then for each input 1 if no more rows are drawn from it, else
  // 0; then the points of the inputs.
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
    if (!node.as<sample_from_parameters>().rerandomize)
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

  // Returns how many of the next `rows` rows come from input `which`, if no other input ends. Only
  // the first `most` of these rows are looked at.
  size_t needed(size_t which, size_t rows) {
    constexpr size_t most = 4096;
    size_t out = 0;
    for (size_t i = 0; i < std::min(rows, most); ++i) out += drawn(draws_ + i) == which;
    return out;
  }

  merged_inputs inputs_;
  counter_random random_;
  std::vector<double> weights_; ///< one for each input; 0 if the input has ended
  double total_ = 0;
  uint64_t draws_ = 0;
};

opened open_sample_from(engine& shared, const dataset_ptr& node, const place& at) {
  std::vector<std::unique_ptr<iterator>> inputs;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    HEADRACE_ASSIGN(auto input, shared.make_input(node, at, i));
    inputs.push_back(std::move(input));
  }
  return std::unique_ptr<iterator>{
    std::make_unique<sample_from_iterator>(shared, *node, at, std::move(inputs))};
}

void encode_sample_from(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<sample_from_parameters>();
  auto out = to.out.initSampleFrom();
  to.inputs(out.initInputs(static_cast<unsigned>(node.inputs.size())));
  auto weights = out.initWeights(static_cast<unsigned>(own.weights.size()));
  for (unsigned i = 0; i < weights.size(); ++i) weights.set(i, own.weights[i]);
  write(own.seed, out.initSeed());
  out.setStopOnEmpty(own.stop_on_empty);
  out.setRerandomize(own.rerandomize);
}

result<dataset_ptr> decode_sample_from(node_reader& from) {
  const auto in = from.in.getSampleFrom();
  HEADRACE_ASSIGN(auto rows, from.inputs(in.getInputs()));
  std::vector<double> weights;
  for (auto x : in.getWeights()) weights.push_back(x);
  return make_sample_from(std::move(rows), std::move(weights), seed_of(in.getSeed()),
                          in.getStopOnEmpty(), in.getRerandomize());
}

} // namespace

constinit const operator_record sample_from_record{
  .name = "sample_from_datasets",
  .arm = schema::Dataset::SAMPLE_FROM,
  .encode = encode_sample_from,
  .decode = decode_sample_from,
  .open = open_sample_from,
  .rows = {.apart = true, .mixed = true},
  .pieces = {piece_rule::whole,
             "mixes the elements of all its inputs; save these, and mix what is loaded"},
  .draws_order = always,
};

} // namespace headrace::detail
