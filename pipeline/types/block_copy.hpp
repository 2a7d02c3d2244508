#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace::detail {

/// A copy of the rows in buffers of their own, which contain nothing else.
block copy_of(const block& rows);

} // namespace headrace::detail
