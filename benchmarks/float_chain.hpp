#pragma once

#include <cstddef>

namespace headrace::detail::bench {

/// The number of vectors of 256 floats per second to which one core can apply twenty
/// multiplications and additions without an interpreter. Each function is a loop over a tile that
/// stays in the cache. The loops are compiled for the targets of the kernels, and those for the
/// best target of this CPU run; the result is the best of two tile sizes.
double plain_float_chain(size_t vectors);

} // namespace headrace::detail::bench
