#pragma once

#include <cstddef>

namespace headrace::bench {

/// Vectors of 256 floats a second, to each of which twenty multiplications and additions are
/// applied by loops over a tile that stays in the cache, one pass a function: what one core does
/// when nobody interprets anything. Compiled for the instruction sets that the kernels are compiled
/// for, and run with the best that this CPU has; of several sizes of tiles the best counts.
double plain_float_chain(size_t vectors);

} // namespace headrace::bench
