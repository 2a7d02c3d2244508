#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/functions/representation/costly_rows.hpp"
#include "headrace/pipeline/graph/row_order.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/parallel_operator.hpp"
#include "headrace/pipeline/operators/rows/seeded_rows.hpp"
#include "headrace/runtime/base/work_timer.hpp"

namespace headrace::detail {

namespace {

using namespace std::chrono_literals;

// If a row takes this long, the use of a second thread saves time.
constexpr auto costly_row = 200us;
// The number of consecutive costly blocks after which further threads are used. One block is not
// enough, because a function may build tables in its first call.
constexpr int costly_blocks = 4;

/// Runs its function on the thread that calls `next`, or, if the graph allows it and rows are
/// costly, on all cores.
class map_iterator final : public parallel_reader {
public:
  map_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input,
               parallel_blocks::function f, bool may_spread)
    : parallel_reader(shared, node),
      input_(std::move(input)),
      function_(std::move(f)),
      may_spread_(may_spread),
      seen_costly_(may_spread && has_costly_rows(*node.body) ? costly_blocks : 0) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (!spread_ && seen_costly_ == costly_blocks)
      spread();
    if (spread_)
      return read(*spread_, wanted);
    // After a costly block, blocks of one row are read, so that it is soon decided whether to use
    // all cores.
    const auto in = input_->next(seen_costly_ == 0 ? wanted : limits{1, wanted.bytes});
    if (!in)
      return std::nullopt;
    if (!may_spread_)
      return function_(*in, kernel_calls_);
    const work_timer timer;
    auto out = function_(*in, kernel_calls_);
    const bool costly = timer.took() >= costly_row * in->rows;
    seen_costly_ = costly ? seen_costly_ + 1 : 0;
    return out;
  }
  // Saves as a number whether the function runs on all cores. If it does, the position of
  // `parallel_blocks` follows; otherwise the input is saved as a part.
  void save_to(position& to) const override {
    to.numbers.push_back(spread_ ? 1 : 0);
    if (spread_)
      spread_->save_to(to);
    else
      put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    if (!from.flag())
      return from.restore(*input_);
    spread();
    return spread_->restore(from);
  }

private:
  void spread() {
    // Two calls run at first, because the rows are costly; further calls are kept only if they
    // raise the rate.
    spread_ = make_parallel_blocks(engine_, node_, std::move(input_), std::move(function_), 2);
  }

  std::unique_ptr<iterator> input_; ///< `spread()` moves it and `function_` into `spread_`
  parallel_blocks::function function_;
  const bool may_spread_;
  int seen_costly_; ///< the number of consecutive costly blocks; at most `costly_blocks`
  std::unique_ptr<parallel_blocks> spread_;
};

opened open_map(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(const auto body, shared.compiled(*node));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  input = with_row_seeds(shared, *node, at, std::move(input));
  auto f = [body, row = at.row](const block& in, uint64_t& kernel_calls) {
    return body->run(in, row ? &row->names : nullptr, kernel_calls);
  };
  if (node->calls.count != 0)
    return open_parallel(shared, *node, std::move(input), std::move(f));
  return std::unique_ptr<iterator>{
    std::make_unique<map_iterator>(shared, *node, std::move(input), std::move(f),
                                   may_spread(*node, shared.options(), at.in_function()))};
}

void encode_map(const dataset_node&, node_writer& to) { to.with_calls(to.out.initMap()); }

result<dataset_ptr> decode_map(node_reader& from) {
  const auto in = from.in.getMap();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto f, from.body(in.getFunction()));
  HEADRACE_ASSIGN(const auto ordered, from_schema(in.getDeterministic()));
  return make_map(std::move(rows), std::move(f), in.getParallel(), ordered);
}

} // namespace

constinit const operator_record map_record{
  .name = "map",
  .arm = schema::Dataset::MAP,
  .encode = encode_map,
  .decode = decode_map,
  .open = open_map,
  .rows = {.one_to_one = true, .apart = true, .divides_as_input = true},
  .cardinality = cardinality_of_input,
  .pieces = {piece_rule::aligned},
  .shown = shown_by_cost,
};

} // namespace headrace::detail
