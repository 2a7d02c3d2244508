#pragma once

#include "headrace/pipeline/types/block.hpp"

namespace headrace::detail {

/// The size of a sample of the block's values after compression with Snappy, divided by its size
/// before: about 1, or more, for data that cannot be compressed. The sample is at most 64 KiB,
/// taken from all columns.
double sampled_share(const block& rows);

} // namespace headrace::detail
