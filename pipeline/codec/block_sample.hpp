#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace {

/// The share of its size that a sample of the block's values compresses to with Snappy: about 1, or
/// more, if it does not. The sample is at most 64 KiB, taken from all columns.
double sampled_share(const block& rows);

} // namespace headrace
