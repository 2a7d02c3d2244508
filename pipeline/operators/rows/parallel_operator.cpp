#include "headrace/pipeline/operators/rows/parallel_operator.hpp"

#include "headrace/pipeline/functions/representation/costly_rows.hpp"
#include "headrace/runtime/base/clock.hpp"

namespace headrace::detail {

namespace {

class parallel_iterator final : public parallel_reader {
public:
  parallel_iterator(engine& shared, const dataset_node& node,
                    std::unique_ptr<parallel_blocks> blocks)
    : parallel_reader(shared, node), blocks_(std::move(blocks)) {}

protected:
  std::optional<block> produce(const limits& wanted) override { return read(*blocks_, wanted); }
  void save_to(position& to) const override { blocks_->save_to(to); }
  status restore_from(position_reader& from) override { return blocks_->restore(from); }

private:
  std::unique_ptr<parallel_blocks> blocks_;
};

} // namespace

std::unique_ptr<parallel_blocks> make_parallel_blocks(engine& shared, const dataset_node& node,
                                                      std::unique_ptr<iterator> input,
                                                      parallel_blocks::function f, size_t calls) {
  auto* counts = shared.context().counters ? shared.context().counters(node) : nullptr;
  return std::make_unique<parallel_blocks>(
    std::move(input), std::move(f),
    parallel_blocks::options{.calls = shared.gate_of(node, calls),
                             .ordered = node.calls.count == 0 || shared.ordered(node),
                             .may_wait = !node.body->named.empty(),
                             .costly_rows = has_costly_rows(*node.body),
                             .budget = shared.budget(),
                             .time = &shared.time(),
                             .counters = counts},
    shared.context().stop);
}

std::optional<block> parallel_reader::read(parallel_blocks& blocks, const limits& wanted) {
  if (counters())
    sample_queue(blocks.ahead());
  auto out = blocks.next(wanted, kernel_calls_);
  if (!out && engine_.stopped())
    return last_failure(cancelled("the iteration was stopped"));
  if (!out)
    if (auto failed = blocks.failed(); !failed.ok())
      return last_failure(failed);
  return out;
}

opened open_parallel(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input,
                     parallel_blocks::function f) {
  return std::unique_ptr<iterator>{std::make_unique<parallel_iterator>(
    shared, node,
    make_parallel_blocks(shared, node, std::move(input), std::move(f),
                         has_costly_rows(*node.body) ? 2 : 1))};
}

} // namespace headrace::detail
