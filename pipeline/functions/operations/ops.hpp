#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"

/// Column functions that are not elementwise functions of numbers. Each gives a column of
/// `call.rows` rows of `call.node.spec`.
namespace headrace::detail {

column run_reduction(const op_call& call); ///< reduce_*, argmax, argmin
column run_movement(const op_call& call);  ///< reshape, index, stack, concat ...: values move
column run_gather(const op_call& call);
column run_shape(const op_call& call);   ///< shape_of, size
column run_strings(const op_call& call); ///< functions of strings
column run_decode_raw(const op_call& call);

/// Runs any of them.
column run_op(const op_call& call);

/// All features of one parse in one go: a column a feature.
std::vector<column> run_parse_example(const op_call& call);

} // namespace headrace::detail
