#pragma once

#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <string_view>

/// Functions for the makers of all operators.
namespace headrace::detail {

/// The most levels of datasets within datasets in an element.
inline constexpr uint8_t most_nesting = 8;

/// Returns a node with this operator and these inputs. The caller sets the other members, and then
/// calls `finish`.
dataset_node node_of(dataset_op op, std::vector<dataset_ptr> inputs = {});
/// The finished node. Fails if a component's shape is not bounded.
result<dataset_ptr> finish(dataset_node node);
/// The error `operator: what`.
status refused(dataset_op op, std::string what);
status check_input(dataset_op op, const dataset_ptr& input);
status check_expr(dataset_op op, const expr_ptr& x, std::string_view name);
/// Ok if the elements contain only tensors, and no datasets such as those of `window`.
status check_tensors(dataset_op op, const dataset_ptr& input);
/// Ok if the spec has no ragged tensor. A ragged tensor cannot be batched or sliced, because its
/// values and its row lengths are separate components of different lengths.
status check_no_ragged(dataset_op op, const element_spec& given);
bool has_ragged(const structure& layout);
/// Widens the shapes of `spec` so that they accept the shapes of `other`. False if the two specs
/// have different structures or dtypes; then `spec` may be changed in part.
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
/// The cardinality of the batches that a dataset of cardinality `n` makes. `size`: the number of
/// elements of a batch; if it is unset, the result is unknown unless `n` is 0 or infinite.
int64_t cardinality_of_batches(int64_t n, known_number size, bool drop_remainder);

} // namespace headrace::detail
