#pragma once

#include "tests/pipeline/random/samples.hpp"

namespace headrace::detail::test::random {

/// Makes of each number a structure of it as an integer, a float, a text and a vector of unknown
/// extent, sends these through random operators, and makes numbers of them again.
sample through_structures(dice& die, const sample& in);

} // namespace headrace::detail::test::random
