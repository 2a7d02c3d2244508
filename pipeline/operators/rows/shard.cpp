#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

#include <utility>

namespace headrace::detail {

namespace {

/// Failed rows are counted, too, as every worker must count alike. A failure that ends the input is
/// given by every shard: it may be a file that only one worker cannot read.
class shard_iterator final : public operator_iterator {
public:
  shard_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      shards_(static_cast<uint64_t>(node.as<shard_parameters>().shards)),
      others_(static_cast<uint64_t>(node.as<shard_parameters>().index)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (auto in = input_->next({rows_for(wanted.rows), wanted.bytes})) {
      std::vector<row_run> runs;
      auto row = others_;
      for (; row < in->rows; row += shards_) append_run(runs, {0, static_cast<uint32_t>(row), 1});
      others_ = row - in->rows;
      last_ = {};
      if (others_ + 1 != shards_ && !in->errors.empty() && in->errors.back().row + 1 == in->rows)
        last_ = in->errors.back().why;
      if (!runs.empty()) {
        const block* piece = &*in;
        return gather_rows({&piece, 1}, runs, kernel_calls_);
      }
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
    // The failure of the last row may have ended the input here, while it continues on other
    // workers: this shard then lacks rows.
    if (!last_.ok())
      return last_failure(std::exchange(last_, {}));
    return std::nullopt;
  }
  // Saves: numbers: rows of other shards before the next one; the failure of the last row; parts:
  // the input.
  void save_to(position& to) const override {
    to.numbers = {others_};
    put(to, last_);
    put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    others_ = from.number(shards_ - 1);
    last_ = from.failure();
    return from.restore(*input_);
  }

private:
  // Reads up to the last wanted row, and not beyond.
  size_t rows_for(size_t rows) const {
    constexpr uint64_t most = 1 << 20;
    const auto between = (rows - 1) < most / shards_ ? (rows - 1) * shards_ : most;
    return static_cast<size_t>(std::min(others_, most) + between + 1);
  }

  std::unique_ptr<iterator> input_;
  const uint64_t shards_;
  uint64_t others_;
  status last_; ///< of the last row so far, if that failed and belongs to another shard
};

opened open_shard(engine& shared, const dataset_ptr& node, const place& at) {
  if (node->as<shard_parameters>().shards == shard_hint)
    return failed_precondition(
      "shard: SHARD_HINT is a place for each worker's part, which only distribute with the "
      "processing mode HINT fills in; give a number of shards, or use that mode");
  return open_over_input<shard_iterator>(shared, node, at);
}

void encode_shard(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<shard_parameters>();
  auto out = to.over_input(to.out.initShard());
  out.setShards(own.shards);
  out.setIndex(own.index);
}

result<dataset_ptr> decode_shard(node_reader& from) {
  const auto in = from.in.getShard();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_shard(std::move(rows), in.getShards(), in.getIndex());
}

} // namespace

constinit const operator_record shard_record{
  .name = "shard",
  .arm = schema::Dataset::SHARD,
  .encode = encode_shard,
  .decode = decode_shard,
  .open = open_shard,
  .position_version = 2,
};

} // namespace headrace::detail
