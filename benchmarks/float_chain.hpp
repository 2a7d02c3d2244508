#pragma once

#include <cstddef>

namespace headrace::detail::bench {

/// Measures how many vectors of 256 floats one core can process per second without an interpreter,
/// if ten multiplications and ten additions are applied to each. Each of these operations is a call
/// of a function that loops over a tile, which stays in the cache. The loops are compiled for the
/// same instruction sets as headrace's kernels, and the version for the best instruction set of
/// this CPU is run. `vectors` vectors are processed with each of two tile sizes; the higher rate is
/// returned.
double plain_float_chain(size_t vectors);

} // namespace headrace::detail::bench
