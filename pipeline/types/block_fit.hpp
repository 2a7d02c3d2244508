#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace {

/// Ok if the rows are of this spec; else `invalid_argument` names the column and what it has. Rows
/// that are errors may have any shape.
status fits(const block& rows, const std::vector<tensor_spec>& expected);

} // namespace headrace
