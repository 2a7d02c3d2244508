#pragma once

#include "headrace/pipeline/operators/rows/parallel_blocks.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

/// Runs `f` over the blocks of `input`, with the number of concurrent calls that the node sets or
/// the graph's tuner chooses. The tuner begins with `calls` calls if its budget admits so many. The
/// time in `f` is counted as the node's work.
std::unique_ptr<parallel_blocks> make_parallel_blocks(engine& shared, const dataset_node& node,
                                                      std::unique_ptr<iterator> input,
                                                      parallel_blocks::function f,
                                                      size_t calls = 1);

/// The base of operators that read the blocks of `parallel_blocks`.
class parallel_reader : public operator_iterator {
protected:
  using operator_iterator::operator_iterator;
  std::optional<block> read(parallel_blocks& from, const limits& wanted);
};

/// Opens an operator that is a function of its input's blocks, with concurrent calls as in
/// `make_parallel_blocks`.
opened open_parallel(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input,
                     parallel_blocks::function f);

} // namespace headrace::detail
