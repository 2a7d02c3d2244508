#include "headrace/pipeline/operators/function_iterator.hpp"
#include "headrace/pipeline/operators/parallel_operator.hpp"

namespace headrace::detail {

namespace {

class map_iterator final : public function_iterator {
public:
  using function_iterator::function_iterator;

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto in = input_->next(wanted);
    return in ? std::optional{call(*in)} : std::nullopt;
  }
};

} // namespace

opened open_map(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto with, open_function(shared, node, at));
  // A named function may keep state and block: it stays with its caller.
  if (node->parallel == 0 || !node->body->named.empty())
    return open_over_function<map_iterator>(shared, node, at, std::move(with));
  return open_parallel(shared, *node, std::move(with.input),
                       [body = with.body, row = at.row](const block& in, uint64_t& kernel_calls) {
                         return body->run(in, row ? &row->names : nullptr, kernel_calls);
                       });
}

} // namespace headrace::detail
