#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace::detail {

/// Ok if the rows have this spec; else `invalid_argument` names the column and its spec. Error rows
/// may have any shape.
status fits(const block& rows, const std::vector<tensor_spec>& expected);

} // namespace headrace::detail
