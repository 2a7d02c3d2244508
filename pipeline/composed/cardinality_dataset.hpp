#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// A dataset of one int64 element, the cardinality of `x`, for functions that make `x` of their
/// argument: each element has its own. Elements are read of those datasets only that a function is
/// given, such as windows. `invalid_argument` where nobody knows how many elements there are before
/// they are read, as behind `filter`.
result<dataset_ptr> make_cardinality(const dataset_ptr& x);

} // namespace headrace::detail
