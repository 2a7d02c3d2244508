#pragma once

#include "tests/pipeline/random/samples.hpp"

namespace headrace::detail::test::random {

/// A random operator whose elements are batches, windows or groups, followed by an operator that
/// takes these apart or sums them up; or a resample or reduce.
sample random_group(dice& die, const sample& in);

} // namespace headrace::detail::test::random
