#pragma once

#include <cstddef>

namespace headrace::detail::bench {

/// The number of vectors of 256 floats per second to which one core can apply twenty
/// multiplications and additions without an interpreter. Each function is a loop over a tile that
/// stays in the cache. The loops are compiled for the same instruction sets as headrace's kernels,
/// and the version for the best instruction set of this CPU is run. The result is the better one of
/// two tile sizes.
double plain_float_chain(size_t vectors);

} // namespace headrace::detail::bench
