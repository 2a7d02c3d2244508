#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// The elements of `input` with the fields of each named structure in the order of their names.
result<dataset_ptr> make_sorted_fields(dataset_ptr input);

} // namespace headrace::detail
