#include "headrace/pipeline/operators/groups/inner_datasets.hpp"

#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// The operator that the user's program called: `map` for a `flat_map` over `single_element`. Such
/// a `flat_map` is made of a map's function that uses the only element of a dataset.
dataset_op called(const dataset_node& node) {
  const bool of_map =
    node.op == dataset_op::flat_map && node.inputs.front()->op == dataset_op::single_element;
  return of_map ? dataset_op::map : node.op;
}

} // namespace

inner_datasets::inner_datasets(engine& shared, const dataset_node& node, const place& at,
                               std::unique_ptr<iterator> input)
  : engine_(shared), node_(node), at_(at), input_(std::move(input)) {
  find_sources(*node.body->dataset);
}

void inner_datasets::find_sources(const dataset_node& graph) {
  for (const auto& input : graph.inputs) find_sources(*input);
  const bool constant = std::all_of(graph.tensors.begin(), graph.tensors.end(),
                                    [](const auto& x) { return constant_of(x) != nullptr; });
  const bool known =
    std::any_of(sources_.begin(), sources_.end(), [&](const auto& x) { return x.node == &graph; });
  if (!constant && !known)
    sources_.push_back({&graph, {}, engine_.arguments_of(graph, node_.body->scope.get())});
}

bool inner_datasets::fill(size_t rows, uint64_t& kernel_calls) {
  if (next_ < rows_.rows)
    return true;
  if (ended_)
    return false;
  auto more = input_.next({rows, limits{}.bytes});
  next_ = 0;
  if (!more) {
    rows_ = {};
    ended_ = true;
    return false;
  }
  rows_ = *std::move(more);
  for (auto& source : sources_) {
    kernel_counter counter;
    source.values = source.compute.run(rows_, at_.names(), counter);
    kernel_calls += counter.calls;
  }
  return true;
}

inner_dataset inner_datasets::next() {
  const auto row = next_++;
  inner_dataset out;
  out.row = row_++;
  if (!rows_.origins.empty())
    append_origins(out.from, rows_.origins, row, 1);
  if (const auto* why = rows_.error_at(row)) {
    out.failed = *why;
    return out;
  }
  auto values = std::make_shared<function_row>();
  values->outer = at_.row;
  for (const auto& c : rows_.columns) values->values.push_back(c.slice(row, 1));
  values->names = {node_.body->scope.get(), values->values, at_.names()};
  for (const auto& source : sources_) {
    if (const auto* why = source.values.error_at(row)) {
      out.failed = why->with_context(to_string(called(node_)));
      return out;
    }
    auto& arguments = values->arguments[source.node];
    for (const auto& c : source.values.columns) arguments.push_back(c.slice(row, 1));
  }
  place inside;
  inside.path = mix(mix(at_.path, 0xf17), out.row);
  // If splits are shared with other runs, a row of another run may have the same number, but must
  // get other random numbers. So the path also depends on the origin of the row.
  if (!out.from.empty()) {
    const auto& from = out.from.front();
    inside.path = mix(mix(mix(inside.path, from.source), from.pass), from.split);
  }
  inside.iteration = at_.iteration;
  inside.row = std::move(values);
  auto made = engine_.make(node_.body->dataset, inside);
  if (made)
    out.rows = *std::move(made);
  else
    out.failed = made.status();
  return out;
}

void inner_datasets::save_to(position& to, uint64_t row) const {
  to.numbers.push_back(row);
  put(to, input_.point(row - first_));
}

status inner_datasets::restore(position_reader& from) {
  first_ = row_ = from.number();
  return input_.restore(from);
}

status inner_datasets::skip_to(uint64_t row, uint64_t& kernel_calls) {
  constexpr uint64_t most = 1024;
  while (row > row_ && fill(static_cast<size_t>(std::min(most, row - row_)), kernel_calls)) {
    const auto passed = std::min<uint64_t>(rows_.rows - next_, row - row_);
    next_ += passed;
    row_ += passed;
  }
  if (row == row_)
    return {};
  return data_loss(fmt::format("row {} is not there any more: the data is not what it was when the "
                               "position was saved",
                               row));
}

result<inner_dataset> inner_datasets::next_of(uint64_t row, uint64_t& kernel_calls) {
  HEADRACE_TRY(skip_to(row, kernel_calls));
  if (!fill(1, kernel_calls))
    return data_loss("there are fewer rows than when the position was saved");
  return next();
}

void set_origin(block& rows, const std::vector<origin>& from) {
  rows.origins = from;
  for (auto& run : rows.origins) run.rows = static_cast<uint32_t>(rows.rows);
}

} // namespace headrace::detail
