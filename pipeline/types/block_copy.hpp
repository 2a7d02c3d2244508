#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace {

/// The same rows in buffers of their own, which hold nothing else.
block copy_of(const block& rows);

} // namespace headrace
