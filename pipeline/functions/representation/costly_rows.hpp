#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <string>

namespace headrace::detail {

/// True if `f` decodes or encodes images. This takes far longer for any row than waking a thread
/// takes.
bool has_costly_rows(const function& f);

/// A description of a `map` or `filter` for users: the library function in its traced function that
/// is likely to cost most, then the text of `shown_function` (a named function, and the parallel
/// calls). May be empty.
std::string shown_by_cost(const dataset_node& node);

} // namespace headrace::detail
