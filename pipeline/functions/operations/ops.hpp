#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"

/// Column functions whose records are in another file. Each gives a column of `call.rows` rows of
/// `call.node.spec`.
namespace headrace::detail {

column run_compare(const op_call& call); ///< strings
column run_where(const op_call& call);   ///< strings
column run_gather(const op_call& call);
column run_decode_raw(const op_call& call);

} // namespace headrace::detail
