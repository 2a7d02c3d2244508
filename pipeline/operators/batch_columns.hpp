#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace::detail {

/// Every `size` rows as one, along a new first axis; no values are copied. A batch with a row that
/// failed is one failed row (with the first one's error), and so is one whose rows have different
/// shapes. A batch descends from the split of its last row. @pre `size` divides `rows.rows`
block batch_rows(const block& rows, size_t size);

} // namespace headrace::detail
