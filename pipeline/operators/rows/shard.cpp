#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

#include <utility>

namespace headrace::detail {

namespace {

/// Error rows are counted, too, because all workers must count the same rows. A failure that ends
/// the input is returned even if its row belongs to another shard: if only this worker cannot read
/// a file, only this shard lacks the rows that follow.
class shard_iterator final : public operator_iterator {
public:
  shard_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : shard_iterator(shared, node, node.as<shard_parameters>(), std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (auto in = input_->next({rows_for(wanted.rows), wanted.bytes})) {
      std::vector<row_run> runs;
      bool own = false; // the last row belongs to this shard
      for (uint64_t row = 0; row < in->rows;) {
        own = is_own();
        const auto n = std::min(until_change(), in->rows - row);
        if (own)
          append_run(runs, {0, static_cast<uint32_t>(row), static_cast<uint32_t>(n)});
        at_ = (at_ + n) % cycle_;
        row += n;
      }
      last_ = {};
      if (!own && !in->errors.empty() && in->errors.back().row + 1 == in->rows)
        last_ = in->errors.back().why;
      if (!runs.empty()) {
        const block* piece = &*in;
        return gather_rows({&piece, 1}, runs, kernel_calls_);
      }
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
    // The failure of the last row may have ended the input here, while the input continues on other
    // workers: then this shard lacks rows.
    if (!last_.ok())
      return last_failure(std::exchange(last_, {}));
    return std::nullopt;
  }
  // Saves as numbers: the index of the next row in the cycle; the failure of the last row; as
  // parts: the input.
  void save_to(position& to) const override {
    to.numbers = {at_};
    put(to, last_);
    put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    at_ = from.number(cycle_ - 1);
    last_ = from.failure();
    return from.restore(*input_);
  }

private:
  shard_iterator(engine& shared, const dataset_node& node, const shard_parameters& how,
                 std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      run_(static_cast<uint64_t>(how.run)),
      cycle_(static_cast<uint64_t>(how.shards) * run_),
      first_(static_cast<uint64_t>(how.index) * run_) {}

  bool is_own() const noexcept { return first_ <= at_ && at_ - first_ < run_; }
  /// The number of rows, from the next one on, of which either all or none belong to this shard.
  uint64_t until_change() const noexcept {
    if (at_ < first_)
      return first_ - at_;
    return is_own() ? first_ + run_ - at_ : cycle_ - at_ + first_;
  }
  // The number of rows to read from the input so that `rows` rows of this shard are among them, and
  // no row after the last of these; at most `most`.
  size_t rows_for(size_t rows) const {
    constexpr uint64_t most = 1 << 20;
    const auto others = is_own() ? 0 : until_change();
    // The number of rows that are left in the current run of this shard, or all rows of its next
    // run.
    const auto now = is_own() ? until_change() : run_;
    if (others >= most)
      return most;
    if (rows <= now)
      return static_cast<size_t>(std::min(others + rows, most));
    const auto later = rows - now - 1;
    if (later / run_ >= most / cycle_)
      return most;
    return static_cast<size_t>(
      std::min(others + now + later / run_ * cycle_ + (cycle_ - run_) + later % run_ + 1, most));
  }

  std::unique_ptr<iterator> input_;
  const uint64_t run_;   ///< the number of consecutive rows that belong to one shard
  const uint64_t cycle_; ///< the number of rows in which each shard has one run
  const uint64_t first_; ///< the index of the first row of this shard in the cycle
  uint64_t at_ = 0;      ///< the index of the next row in the cycle
  /// The error of the row that was read most recently, if that row failed and belongs to another
  /// shard.
  status last_;
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
  out.setRun(own.run);
}

result<dataset_ptr> decode_shard(node_reader& from) {
  const auto in = from.in.getShard();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_shard(std::move(rows), in.getShards(), in.getIndex(), in.getRun());
}

dataset_ptr cardinality_of_shard(const dataset_ptr& x) {
  const auto own = x->as<shard_parameters>();
  if (own.shards < 1 || own.run != 1)
    return nullptr;
  return cardinality_by_finite(x, [&](const expr& n) {
    return (n + constant(own.shards - 1 - own.index)) / constant(own.shards);
  });
}

} // namespace

constinit const operator_record shard_record{
  .name = "shard",
  .arm = schema::Dataset::SHARD,
  .encode = encode_shard,
  .decode = decode_shard,
  .open = open_shard,
  .position_version = 3,
  .cardinality = cardinality_of_shard,
};

} // namespace headrace::detail
