#pragma once

#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail {

/// All rows as one, along a new first axis, each padded at its ends with `to.missing` to the
/// extents of `to.spec`; an unknown extent is the largest of the rows. `component` is for the
/// error: a row that `to` does not allow. @pre `to.spec` has a rank, and `to.missing` is one scalar
result<column> pad_rows(const column& rows, const field_format& to, size_t component);

} // namespace headrace::detail
