#include "headrace/pipeline/graph/node_checks.hpp"

#include <fmt/format.h>

namespace headrace::detail {

dataset_node node_of(dataset_op op, std::vector<dataset_ptr> inputs) {
  dataset_node out;
  out.op = op;
  out.inputs = std::move(inputs);
  return out;
}

dataset_ptr finish(dataset_node node) {
  return std::make_shared<const dataset_node>(std::move(node));
}

status refused(dataset_op op, std::string what) {
  return invalid_argument(fmt::format("{}: {}", to_string(op), what));
}

status check_input(dataset_op op, const dataset_ptr& input) {
  return input ? status{} : refused(op, "there is no input dataset");
}

status check_expr(dataset_op op, const expr_ptr& x, std::string_view name) {
  return x ? status{} : refused(op, fmt::format("argument {} is missing", name));
}

status check_strings(dataset_op op, const expr_ptr& x, std::string_view name) {
  HEADRACE_TRY(check_expr(op, x, name));
  if (x->spec.type != dtype::string || (x->spec.dims.has_rank() && x->spec.dims.rank() > 1))
    return refused(op, fmt::format("{} is {}; it must be a string or a vector of strings", name,
                                   to_string(x->spec)));
  return {};
}

status check_compression(dataset_op op, std::string_view text) {
  if (text.empty() || text == "GZIP" || text == "ZLIB")
    return {};
  return refused(op, fmt::format("compression is '{}'; it must be '', 'GZIP' or 'ZLIB'", text));
}

status check_count(dataset_op op, std::string_view name, int64_t value) {
  if (value > 0)
    return {};
  return refused(op, fmt::format("{} is {}; it must be at least 1", name, value));
}

} // namespace headrace::detail
