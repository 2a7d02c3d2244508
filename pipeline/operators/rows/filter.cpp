#include "headrace/pipeline/functions/representation/costly_rows.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/rows/function_iterator.hpp"
#include "headrace/pipeline/operators/rows/parallel_operator.hpp"

namespace headrace::detail {

namespace {

// The rows for which `keep` is true. Error rows are also kept, so that their errors reach the
// user.
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

// The rows of `in` for which `kept` is true, or that failed. The result may be empty.
block kept_rows(block in, block kept, const dataset_node& node, uint64_t& kernel_calls) {
  in.errors = std::move(kept.errors);             // includes the errors of the input
  in.columns.resize(node.spec.components.size()); // removes the column of seeds
  const auto runs = chosen(kept.columns[0], in);
  const block* piece = &in;
  return runs.empty() ? block{} : gather_rows({&piece, 1}, runs, kernel_calls);
}

class filter_iterator final : public function_iterator {
public:
  using function_iterator::function_iterator;

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (auto in = input_->next(wanted)) {
      auto kept = call(*in);
      if (auto out = kept_rows(*std::move(in), std::move(kept), node_, kernel_calls_);
          out.rows != 0)
        return out;
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
    return std::nullopt;
  }
};

opened open_filter(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto with, open_function(shared, node, at));
  if (node->calls.count == 0)
    return open_over_function<filter_iterator>(shared, node, at, std::move(with));
  return open_parallel(
    shared, *node, std::move(with.input),
    [body = with.body, node, row = at.row](const block& in, uint64_t& kernel_calls) {
      auto kept = body->run(in, row ? &row->names : nullptr, kernel_calls);
      return kept_rows(in, std::move(kept), *node, kernel_calls);
    });
}

void encode_filter(const dataset_node&, node_writer& to) { to.with_calls(to.out.initFilter()); }

result<dataset_ptr> decode_filter(node_reader& from) {
  const auto in = from.in.getFilter();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto f, from.body(in.getFunction()));
  HEADRACE_ASSIGN(const auto ordered, from_schema(in.getDeterministic()));
  return make_filter(std::move(rows), std::move(f), in.getParallel(), ordered);
}

} // namespace

constinit const operator_record filter_record{
  .name = "filter",
  .arm = schema::Dataset::FILTER,
  .encode = encode_filter,
  .decode = decode_filter,
  .open = open_filter,
  .rows = {.apart = true},
  .pieces = {piece_rule::apart},
  .draws_order = draws_in_function,
  .shown = shown_by_cost,
};

} // namespace headrace::detail
