#include "headrace/pipeline/operators/parallel_operator.hpp"

#include "headrace/runtime/base/clock.hpp"

namespace headrace::detail {

namespace {

class parallel_iterator final : public operator_iterator {
public:
  parallel_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input,
                    parallel_blocks::function f)
    : operator_iterator(shared, node),
      blocks_(std::move(input), std::move(f), {shared.gate_of(node), shared.ordered(node)},
              shared.context().stop) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (counters())
      sample_queue(blocks_.ahead());
    auto out = blocks_.next(wanted, kernel_calls_);
    if (!out && engine_.stopped())
      return last_failure(cancelled("the iteration was stopped"));
    return out;
  }
  void save_to(position& to) const override { blocks_.save_to(to); }
  status restore_from(position_reader& from) override { return blocks_.restore(from); }

private:
  parallel_blocks blocks_;
};

} // namespace

opened open_parallel(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input,
                     parallel_blocks::function f) {
  if (auto* counts = shared.context().counters ? shared.context().counters(node) : nullptr)
    f = [counts, f = std::move(f)](const block& in, uint64_t& kernel_calls) {
      const auto begin = clock::system().now();
      auto out = f(in, kernel_calls);
      counts->work_ns += static_cast<uint64_t>((clock::system().now() - begin).count());
      return out;
    };
  return std::unique_ptr<iterator>{
    std::make_unique<parallel_iterator>(shared, node, std::move(input), std::move(f))};
}

} // namespace headrace::detail
