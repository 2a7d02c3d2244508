#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// A dataset of one int64 element: the cardinality of `x`, which may depend on the argument of the
/// function that makes `x`. No elements are read, except those of datasets in the argument, such as
/// windows, which are counted. `invalid_argument`: the number is determined only when the elements
/// of `x` are read, as after `filter`.
result<dataset_ptr> make_cardinality(const dataset_ptr& x);

} // namespace headrace::detail
