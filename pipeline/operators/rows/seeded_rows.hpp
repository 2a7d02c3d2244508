#pragma once

#include "headrace/pipeline/engine/open.hpp"

namespace headrace::detail {

/// The rows of `input` with a column of seeds after the others, if `node`'s function uses seeds
/// (see graph/row_seeds.hpp); else `input` itself.
std::unique_ptr<iterator> with_row_seeds(const engine& shared, const dataset_node& node,
                                         const place& at, std::unique_ptr<iterator> input);

} // namespace headrace::detail
