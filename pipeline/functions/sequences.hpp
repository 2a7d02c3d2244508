#pragma once

#include "headrace/pipeline/functions/expr.hpp"

namespace headrace::detail {

/// `start`, `start + delta` ... before `limit`: a vector whose length may differ from element to
/// element. The operands are scalars of one dtype, integers or floats. A `delta` of 0, or one that
/// leads from `start` away from `limit`, is an error of the row.
expr range(const expr& start, const expr& limit, const expr& delta = 1);
/// The parts of `x` along `axis`, each repeated `repeats` times. `repeats` is a scalar, or a vector
/// with a number for each part. A number below 0 is an error of the row.
expr repeat(const expr& x, const expr& repeats, int64_t axis = 0);
/// `count` evenly spaced numbers from `start` to `stop`, both included, along the new axis `axis`.
/// `start` and `stop` are floats of one shape and dtype; `count` is an integer scalar.
expr linspace(const expr& start, const expr& stop, const expr& count, int64_t axis = 0);
/// The matrix [rows, columns] with ones on the main diagonal and zeros elsewhere.
expr eye(const extent& rows, const extent& columns, dtype type = dtype::float32);
/// For each length in `lengths` (integers of any shape) a mask along a new last axis, in which the
/// first places, as many as the length, are true and all others false. The masks have `longest`
/// places (an integer scalar), by default as many as the largest length.
expr sequence_mask(const expr& lengths, const std::optional<expr>& longest = std::nullopt);
/// The place of each true value of `mask`, which has one axis or more: int64 [values, axes].
expr true_places(const expr& mask);
/// The slice `start:stop:step` of `x` along `axis`, as in Python: bounds below 0 count from the
/// end, and places that `x` does not have are left out. Bounds are integer scalars that may differ
/// from element to element.
expr slice_along(const expr& x, int64_t axis, const std::optional<expr>& start,
                 const std::optional<expr>& stop, int64_t step = 1);

} // namespace headrace::detail
