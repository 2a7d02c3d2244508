#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

/// True if `f` has a function that takes far longer for a row than it takes to wake a thread,
/// whatever the row is: images are decoded or encoded.
bool has_costly_rows(const function& f);

} // namespace headrace
