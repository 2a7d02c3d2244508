#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/sources/memory/permutation.hpp"
#include "headrace/pipeline/sources/random_access.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"

#include <numeric>

namespace headrace::detail {

namespace {

/// A split is an index in the shuffled order.
class global_shuffle_iterator final : public operator_iterator {
public:
  global_shuffle_iterator(engine& shared, const dataset_node& node, place at,
                          std::unique_ptr<random_access> rows)
    : operator_iterator(shared, node),
      at_(std::move(at)),
      rows_(std::move(rows)),
      splits_(shared, at_, rows_->rows(), shared.shares_splits(at_) ? rows_->listing() : nullptr) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto more = splits_.here();
    if (!more)
      return last_failure(more.status());
    if (!*more)
      return std::nullopt;
    // The order depends on the number of the pass, which is known only when its first splits were
    // returned.
    if (!order_)
      order_.emplace(rows_->rows(), key());
    constexpr size_t most = 1 << 15;
    const auto now = **more;
    numbers_.resize(std::min<uint64_t>({wanted.rows, now.count, most}));
    for (size_t i = 0; i < numbers_.size(); ++i) numbers_[i] = order_->at(now.first + i);
    auto out = rows_->read(numbers_, wanted.bytes, kernel_calls_);
    if (splits_.provided())
      out.origins = {splits_.from(now.first, out.rows, out.rows == 1 ? 0 : 1)};
    splits_.pass(out.rows);
    return out;
  }
  // Saves as numbers: the numbers of `splits_`, and the number of rows. The order is not saved,
  // because it follows from the seed and the pass.
  void save_to(position& to) const override {
    splits_.save_to(to);
    to.numbers.push_back(rows_->rows());
  }
  status restore_from(position_reader& from) override {
    splits_.restore_from(from);
    if (from.number() != rows_->rows() && from.fits())
      return failed_precondition("there are other rows than when the position was saved");
    return {};
  }

private:
  uint64_t key() const {
    const auto once = engine_.random_key(node_, at_);
    return node_.as<global_shuffle_parameters>().reshuffle
             ? mix(mix(once, engine_.context().repetition), splits_.pass_key())
             : once;
  }

  place at_;
  std::unique_ptr<random_access> rows_;
  std::optional<permutation> order_;
  split_cursor splits_;
  std::vector<uint64_t> numbers_;
};

opened open_global_shuffle(engine& shared, const dataset_ptr& node, const place& at) {
  const auto& source = node->inputs[0];
  auto rows = record_of(*source).source.open_any_order(shared, source, at);
  if (!rows)
    return rows.status().with_context("global_shuffle");
  return std::unique_ptr<iterator>{
    std::make_unique<global_shuffle_iterator>(shared, *node, at, *std::move(rows))};
}

void encode_global_shuffle(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<global_shuffle_parameters>();
  auto out = to.over_input(to.out.initGlobalShuffle());
  write(own.seed, out.initSeed());
  out.setReshuffle(own.reshuffle);
}

result<dataset_ptr> decode_global_shuffle(node_reader& from) {
  const auto in = from.in.getGlobalShuffle();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_global_shuffle(std::move(rows), seed_of(in.getSeed()), in.getReshuffle());
}

} // namespace

constinit const operator_record global_shuffle_record{
  .name = "global_shuffle",
  .arm = schema::Dataset::GLOBAL_SHUFFLE,
  .encode = encode_global_shuffle,
  .decode = decode_global_shuffle,
  .open = open_global_shuffle,
  .rows = source_rows,
  .source = {.splits_are_rows = always, .splits = splits_of_rows},
  .draws_order = always,
};

} // namespace headrace::detail
