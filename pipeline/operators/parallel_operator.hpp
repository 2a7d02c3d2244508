#pragma once

#include "headrace/pipeline/operators/parallel_blocks.hpp"
#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

/// An operator that is a function of its input's blocks, `node.parallel` of them at a time.
opened open_parallel(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input,
                     parallel_blocks::function f);

} // namespace headrace::detail
