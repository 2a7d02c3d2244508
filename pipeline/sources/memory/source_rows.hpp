#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/result.hpp"

/// The rows of sources that need not read anything.
namespace headrace::detail {

/// The number of numbers in a range. @pre `step != 0`
uint64_t numbers_in(int64_t start, int64_t stop, int64_t step) noexcept;

/// The rows of from_tensors, from_tensor_slices or elements_of over these tensors.
result<block> rows_of_tensors(const dataset_node& node, std::vector<column> tensors);

} // namespace headrace::detail
