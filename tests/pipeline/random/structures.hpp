#pragma once

#include "tests/pipeline/random/samples.hpp"

namespace headrace::detail::test::random {

/// Maps each number to a structure that contains it as an integer, as a text, as a float and in a
/// vector of unknown extent, applies random operators, and maps the structures to numbers again.
sample through_structures(dice& die, const sample& in);

} // namespace headrace::detail::test::random
