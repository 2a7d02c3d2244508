#pragma once

#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/operators/batches/batch_columns.hpp"

namespace headrace::detail {

/// Makes one row of every `size` rows, along a new first axis. Each row is padded at the end of
/// each axis with `to.missing` to the extents of `to.spec`, in which the largest extent of the
/// batch replaces an unknown one. A batch with a row that exceeds `to.spec` or has another rank is
/// added to `failed`; its error names `component`. `kernel_calls` is increased unless dense rows
/// need no padding and are not copied. @pre `to.spec` has a rank, `to.missing` is one scalar, and
/// `size` divides `rows.rows()`
column pad_rows(const column& rows, size_t size, const field_format& to, size_t component,
                failed_batches& failed, uint64_t& kernel_calls);

} // namespace headrace::detail
