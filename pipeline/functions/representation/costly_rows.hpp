#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <string>

namespace headrace::detail {

/// True if `f` has a function that takes far longer for a row than it takes to wake a thread,
/// whatever the row is: images are decoded or encoded.
bool has_costly_rows(const function& f);

/// A description of a `map` or `filter` for people: of a traced function the part that is likely to
/// cost most, then a named function and the parallel calls (`shown_function`). May be empty.
std::string shown_by_cost(const dataset_node& node);

} // namespace headrace::detail
