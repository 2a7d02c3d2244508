#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// True if `f` uses a seed for each row. Then each block with which `f` is called has one more
/// column after the columns of the argument: the seeds, int64[2], see `random::element_seed`.
bool wants_row_seeds(const function& f);
/// True if `f` uses row seeds, and all of them are the same in each iteration and run.
bool has_fixed_row_seeds(const function& f);

} // namespace headrace::detail
