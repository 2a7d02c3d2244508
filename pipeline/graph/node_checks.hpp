#pragma once

#include "headrace/pipeline/graph/build.hpp"

#include <string_view>

/// What the makers of all operators have in common.
namespace headrace::detail {

/// A node to be filled in.
dataset_node node_of(dataset_op op, std::vector<dataset_ptr> inputs = {});
dataset_ptr finish(dataset_node node);
/// `operator: what`.
status refused(dataset_op op, std::string what);
status check_input(dataset_op op, const dataset_ptr& input);
status check_expr(dataset_op op, const expr_ptr& x, std::string_view name);
/// A string scalar or vector.
status check_strings(dataset_op op, const expr_ptr& x, std::string_view name);
/// "", "GZIP" or "ZLIB".
status check_compression(dataset_op op, std::string_view text);
/// At least 1.
status check_count(dataset_op op, std::string_view name, int64_t value);

} // namespace headrace::detail
