#include "headrace/pipeline/makers/node_checks.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

dataset_node node_of(dataset_op op, std::vector<dataset_ptr> inputs) {
  dataset_node out;
  out.op = op;
  out.inputs = std::move(inputs);
  return out;
}

result<dataset_ptr> finish(dataset_node node) {
  for (size_t i = 0; i < node.spec.components.size(); ++i)
    if (const auto how = check_bounded(node.spec.components[i].dims); !how.ok())
      return refused(node.op, fmt::format("component {}: {}", i, how.message()));
  return dataset_ptr{std::make_shared<const dataset_node>(std::move(node))};
}

status refused(dataset_op op, std::string what) {
  return invalid_argument(fmt::format("{}: {}", to_string(op), what));
}

status check_input(dataset_op op, const dataset_ptr& input) {
  return input ? status{} : refused(op, "there is no input dataset");
}

status check_expr(dataset_op op, const expr_ptr& x, std::string_view name) {
  if (!x)
    return refused(op, fmt::format("argument {} is missing", name));
  if (x->spec.is_dataset())
    return refused(
      op, fmt::format("argument {} is a {}; it must be a tensor", name, to_string(x->spec)));
  return {};
}

status check_size(dataset_op op, std::string_view name, int64_t value) {
  HEADRACE_TRY(check_count(op, name, value));
  if (value > INT32_MAX)
    return refused(op, fmt::format("{} is {}; it must be at most {}", name, value, INT32_MAX));
  return {};
}

status check_pause(int64_t microseconds) {
  constexpr int64_t day = 86'400'000'000;
  if (microseconds >= 0 && microseconds <= day)
    return {};
  return refused(
    dataset_op::sleep,
    fmt::format("sleep_microseconds is {}; it must be between 0 and {}, a day", microseconds, day));
}

int64_t cardinality_of_batches(int64_t n, known_number size, bool drop_remainder) {
  if (n <= 0)
    return n;
  return size ? n / *size + (drop_remainder || n % *size == 0 ? 0 : 1) : unknown_cardinality;
}

status check_tensors(dataset_op op, const dataset_ptr& input) {
  HEADRACE_TRY(check_input(op, input));
  if (!has_datasets(input->spec))
    return {};
  return refused(op,
                 fmt::format("the input gives {}; it must give tensors: take the datasets apart "
                             "before, with flat_map or interleave",
                             to_string(input->spec)));
}

bool has_ragged(const structure& layout) {
  return layout.is_ragged()
         || std::any_of(layout.children().begin(), layout.children().end(), has_ragged);
}

status check_no_ragged(dataset_op op, const element_spec& given) {
  if (!has_ragged(given.layout))
    return {};
  return refused(op,
                 fmt::format("it is given {}; make tensors of ragged ones before, with to_tensor "
                             "in a map",
                             to_string(given)));
}

bool join_spec(element_spec& spec, const element_spec& other) {
  bool fits = spec.layout == other.layout;
  for (size_t i = 0; fits && i < spec.components.size(); ++i) {
    auto& mine = spec.components[i];
    const auto& more = other.components[i];
    fits = mine.type == more.type && mine.nesting == more.nesting;
    mine.dims = shape::join(mine.dims, more.dims);
  }
  return fits;
}

status check_strings(dataset_op op, const expr_ptr& x, std::string_view name) {
  HEADRACE_TRY(check_expr(op, x, name));
  if (x->spec.type != dtype::string || (x->spec.dims.has_rank() && x->spec.dims.rank() > 1))
    return refused(op, fmt::format("{} is {}; it must be a string or a vector of strings", name,
                                   to_string(x->spec)));
  return {};
}

status check_traced(dataset_op op, std::string_view name, const function_ptr& f) {
  if (!f)
    return refused(op, fmt::format("{} is missing", name));
  if (f->dataset)
    return refused(op, fmt::format("{} gives a dataset of {}; it must give tensors", name,
                                   to_string(f->dataset->spec)));
  if (!f->named.empty())
    return refused(op,
                   fmt::format("{} is '{}', a function that is called by name; call it in a map "
                               "before",
                               name, to_string(f->named)));
  return {};
}

status check_count(dataset_op op, std::string_view name, int64_t value) {
  if (value > 0)
    return {};
  return refused(op, fmt::format("{} is {}; it must be at least 1", name, value));
}

} // namespace headrace::detail
