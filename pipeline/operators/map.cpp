#include "headrace/pipeline/operators/parallel_operator.hpp"
#include "headrace/pipeline/operators/seeded_rows.hpp"
#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

class map_iterator final : public operator_iterator {
public:
  map_iterator(engine& shared, const dataset_node& node, const place& at,
               std::shared_ptr<const compiled_function> body, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      row_(at.row),
      body_(std::move(body)),
      input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto in = input_->next(wanted);
    if (!in)
      return in;
    return body_->run(*in, row_ ? &row_->names : nullptr, kernel_calls_);
  }
  // Parts: the input. Nothing is held.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  std::shared_ptr<const function_row> row_;
  std::shared_ptr<const compiled_function> body_;
  std::unique_ptr<iterator> input_;
};

} // namespace

opened open_map(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto body, shared.compiled(node->body));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  input = with_row_seeds(shared, *node, at, std::move(input));
  // A named function may keep state and block: it stays with its caller.
  if (node->parallel != 0 && node->body->named.empty())
    return open_parallel(shared, *node, std::move(input),
                         [body, row = at.row](const block& in, uint64_t& kernel_calls) {
                           return body->run(in, row ? &row->names : nullptr, kernel_calls);
                         });
  return std::unique_ptr<iterator>{
    std::make_unique<map_iterator>(shared, *node, at, std::move(body), std::move(input))};
}

} // namespace headrace::detail
