#pragma once

#include <cstddef>

namespace headrace::detail::bench {

/// Vectors of 256 floats per second, to each of which twenty multiplications and additions are
/// applied by loops over a tile that stays in the cache, one pass for each function: the limit of
/// one core without an interpreter. Compiled for the targets of the kernels, and run with the best
/// one for this CPU; the result is the best of several tile sizes.
double plain_float_chain(size_t vectors);

} // namespace headrace::detail::bench
