#include "headrace/pipeline/operators/rows/seeded_rows.hpp"

#include "headrace/pipeline/graph/row_seeds.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"

namespace headrace::detail {

namespace {

/// Adds a seed to each row: a hash of `key` and the row's origin, together with the row's index
/// among all rows of this iterator. So the seeds of rows of different tasks differ because their
/// splits differ, and the seeds of rows of one split differ because their indexes differ.
class seeded_rows final : public iterator {
public:
  seeded_rows(dataset_op op, uint64_t key, std::unique_ptr<iterator> input)
    : op_(op), key_(key), input_(std::move(input)) {}

  std::optional<block> next(const limits& wanted) override {
    auto out = input_->next(wanted);
    if (!out)
      return out;
    mutable_buffer seeds{out->rows * 2 * sizeof(uint64_t)};
    auto* to = seeds.as<uint64_t>().data();
    size_t run = 0;
    uint32_t at = 0;
    for (size_t r = 0; r < out->rows; ++r, ++at) {
      auto key = key_;
      if (!out->origins.empty()) {
        for (; at == out->origins[run].rows; ++run) at = 0;
        const auto& from = out->origins[run];
        key = mix(mix(mix(key, from.source), from.pass), from.split + at * from.step);
      }
      to[2 * r] = key;
      to[2 * r + 1] = next_++;
    }
    out->columns.push_back(column::dense(dtype::int64, {2}, out->rows, std::move(seeds).freeze()));
    return out;
  }

  // Saves as numbers: the number of the next row; as parts: the input.
  position_ptr save() const override {
    auto out = std::make_shared<position>();
    out->op = op_;
    out->numbers = {next_};
    put(*out, *input_);
    return out;
  }
  status restore(const position& from) override {
    position_reader reader{from};
    next_ = reader.number();
    HEADRACE_TRY(reader.restore(*input_));
    return reader.finish();
  }

private:
  dataset_op op_;
  uint64_t key_;
  std::unique_ptr<iterator> input_;
  uint64_t next_ = 0;
};

} // namespace

std::unique_ptr<iterator> with_row_seeds(const engine& shared, const dataset_node& node,
                                         const place& at, std::unique_ptr<iterator> input) {
  if (!wants_row_seeds(*node.body))
    return input;
  // For datasets in functions the key is not fixed: otherwise the datasets that are made for
  // different elements would have rows with equal seeds.
  constexpr uint64_t fixed = 0xf1eed;
  const auto key =
    !at.in_function() && has_fixed_row_seeds(*node.body)
      ? mix(fixed, at.iteration)
      : mix(mix(mix(shared.seed(), at.path), at.iteration), shared.context().repetition);
  return std::make_unique<seeded_rows>(node.op, key, std::move(input));
}

} // namespace headrace::detail
