#pragma once

#include "headrace/pipeline/operators/rows/parallel_blocks.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

/// Runs `f` over the blocks of `input`, as many at a time as the node or the graph's tuner says.
/// The tuner begins with `calls` if its budget admits that. The time in `f` is counted as the
/// node's work.
std::unique_ptr<parallel_blocks> make_parallel_blocks(engine& shared, const dataset_node& node,
                                                      std::unique_ptr<iterator> input,
                                                      parallel_blocks::function f,
                                                      size_t calls = 1);

/// An operator that reads such blocks.
class parallel_reader : public operator_iterator {
protected:
  using operator_iterator::operator_iterator;
  std::optional<block> read(parallel_blocks& from, const limits& wanted);
};

/// An operator that is a function of its input's blocks, `node.calls.count` of them at a time.
opened open_parallel(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input,
                     parallel_blocks::function f);

} // namespace headrace::detail
