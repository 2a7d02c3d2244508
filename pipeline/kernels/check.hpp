#pragma once

#include "headrace/pipeline/types/dtype.hpp"

#include <cstddef>

/// Functions that find values for which an operation is not defined. They are fast if there is no
/// such value.
namespace headrace::detail::kernels {

/// The index of the first bad value at or after `from`; `n` if there is none.
using find_bad_fn = size_t (*)(const void* values, size_t from, size_t n);

/// Returns the function that finds zeros among integers of `type`; null if `type` is not an integer
/// type.
find_bad_fn find_zero(dtype type) noexcept;
/// Returns the function that finds negative integers of `type`; null if `type` is not a signed
/// integer type.
find_bad_fn find_negative(dtype type) noexcept;
/// Returns the function that finds values of `type` that an integer dtype `to` cannot represent
/// (after their fractions are removed; NaN cannot be represented). Null if `to` can represent all
/// values of `type`, if `to` is not an integer dtype, or if `type` is complex or not numeric.
find_bad_fn find_unfit(dtype type, dtype to) noexcept;

} // namespace headrace::detail::kernels
