#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace::detail {

/// The share of its size to which a sample of the block's values is compressed with Snappy: about
/// 1, or more, for data that cannot be compressed. The sample is at most 64 KiB, taken from all
/// columns.
double sampled_share(const block& rows);

} // namespace headrace::detail
