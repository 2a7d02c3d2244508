#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/parallel_operator.hpp"
#include "headrace/pipeline/operators/seeded_rows.hpp"

namespace headrace::detail {

namespace {

// Rows that failed are kept: their errors are for the reader.
std::vector<row_run> chosen(const column& keep, const block& rows) {
  std::vector<row_run> runs;
  auto error = rows.errors.begin();
  const bool readable = keep.total_values() == static_cast<int64_t>(rows.rows);
  const auto* yes = readable ? keep.values<bool>().data() : nullptr;
  for (uint32_t i = 0; i < rows.rows; ++i) {
    const bool failed = error != rows.errors.end() && error->row == i;
    if (failed)
      ++error;
    if (failed || (yes && yes[i]))
      append_run(runs, {0, i, 1});
  }
  return runs;
}

// No rows, if there are none.
block filtered(block in, const compiled_function& body, const dataset_node& node,
               const function_row* row, uint64_t& kernel_calls) {
  auto kept = body.run(in, row ? &row->names : nullptr, kernel_calls);
  in.errors = std::move(kept.errors);             // those of the input among them
  in.columns.resize(node.spec.components.size()); // without seeds
  const auto runs = chosen(kept.columns[0], in);
  const block* piece = &in;
  return runs.empty() ? block{} : gather_rows({&piece, 1}, runs, kernel_calls);
}

class filter_iterator final : public operator_iterator {
public:
  filter_iterator(engine& shared, const dataset_node& node, const place& at,
                  std::shared_ptr<const compiled_function> body, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      row_(at.row),
      body_(std::move(body)),
      input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (auto in = input_->next(wanted)) {
      if (auto out = filtered(*std::move(in), *body_, node_, row_.get(), kernel_calls_);
          out.rows != 0)
        return out;
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
    return std::nullopt;
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

opened open_filter(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto body, shared.compiled(node->body));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  input = with_row_seeds(shared, *node, at, std::move(input));
  // As for a map, a named function stays with its caller.
  if (node->parallel != 0 && node->body->named.empty())
    return open_parallel(shared, *node, std::move(input),
                         [body, node, row = at.row](const block& in, uint64_t& kernel_calls) {
                           return filtered(in, *body, *node, row.get(), kernel_calls);
                         });
  return std::unique_ptr<iterator>{
    std::make_unique<filter_iterator>(shared, *node, at, std::move(body), std::move(input))};
}

} // namespace headrace::detail
