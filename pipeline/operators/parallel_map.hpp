#pragma once

#include "headrace/pipeline/operators/open.hpp"

namespace headrace::detail {

/// A map whose blocks are evaluated in the process's task arena, `node.parallel` at a time, and
/// come out in order. A thread pulls the input, so that neither waits for the other.
opened open_parallel_map(engine& shared, const dataset_node& node, const place& at,
                         std::shared_ptr<const compiled_function> body,
                         std::unique_ptr<iterator> input);

} // namespace headrace::detail
