#pragma once

#include "headrace/pipeline/types/dtype.hpp"

#include <cstddef>

/// Looks for values that a function must not be given. Fast when there are none.
namespace headrace::kernels {

/// The first place at or after `from` of a value that `bad` calls bad; `n` if there is none.
using find_bad_fn = size_t (*)(const void* values, size_t from, size_t n);

/// Zeros among integers of `type`.
find_bad_fn find_zero(dtype type) noexcept;
/// Negative integers of `type`; null if they cannot be.
find_bad_fn find_negative(dtype type) noexcept;
/// Values of `type` that an integer dtype `to` does not hold (fractions are cut off before; NaN is
/// held by none); null if it holds all.
find_bad_fn find_unfit(dtype type, dtype to) noexcept;

} // namespace headrace::kernels
