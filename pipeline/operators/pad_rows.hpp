#pragma once

#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/operators/batch_columns.hpp"

namespace headrace::detail {

/// Every `size` rows as one, along a new first axis, each padded at its ends with `to.missing` to
/// the extents of `to.spec`; an unknown extent is the largest of the batch. A batch with a row that
/// `to` does not allow is added to `failed`; `component` is for the error. `kernel_calls` counts,
/// unless the values lie as those of the rows do.
/// @pre `to.spec` has a rank, `to.missing` is one scalar, and `size` divides `rows.rows()`
column pad_rows(const column& rows, size_t size, const field_format& to, size_t component,
                failed_batches& failed, uint64_t& kernel_calls);

} // namespace headrace::detail
