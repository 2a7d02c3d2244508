#pragma once

#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <string_view>

/// Functions for the makers of all operators.
namespace headrace::detail {

/// The most nested levels of datasets in elements.
inline constexpr uint8_t most_nesting = 8;

/// A node whose other members are to be set.
dataset_node node_of(dataset_op op, std::vector<dataset_ptr> inputs = {});
dataset_ptr finish(dataset_node node);
/// The error `operator: what`.
status refused(dataset_op op, std::string what);
status check_input(dataset_op op, const dataset_ptr& input);
status check_expr(dataset_op op, const expr_ptr& x, std::string_view name);
/// Ok if the elements contain only tensors, and no datasets such as those of `window`.
status check_tensors(dataset_op op, const dataset_ptr& input);
/// Ok if there is no ragged tensor: its values and its row lengths are components that cannot be
/// batched or sliced in the same way.
status check_no_ragged(dataset_op op, const element_spec& given);
bool has_ragged(const structure& layout);
/// True if both have the same structure and dtypes. Then the shapes of `spec` are widened to accept
/// those of `other`.
bool join_spec(element_spec& spec, const element_spec& other);
/// Ok if `x` is a string scalar or vector.
status check_strings(dataset_op op, const expr_ptr& x, std::string_view name);
/// Ok if the function is traced, not called by name, and its result is tensors.
status check_traced(dataset_op op, std::string_view name, const function_ptr& f);
/// Ok if the value is at least 1.
status check_count(dataset_op op, std::string_view name, int64_t value);
/// Ok if the value is from 1 to 2^31 - 1.
status check_size(dataset_op op, std::string_view name, int64_t value);
/// Ok if the time is from 0 to a day, in microseconds.
status check_pause(int64_t microseconds);
/// The cardinality of batches of `size` elements out of `n`; `size` unset: unknown.
int64_t cardinality_of_batches(int64_t n, known_number size, bool drop_remainder);

} // namespace headrace::detail
