#pragma once

#include "tests/pipeline/random/samples.hpp"

namespace headrace::detail::test::random {

/// A random source of numbers: in memory, or one that reads files, which are written into `folder`.
/// Needs `test::find_function`.
sample random_source(dice& die, const scratch_folder& folder);

/// A source that gives its numbers in an order that the generator does not compute.
sample reordered_source(dice& die, const scratch_folder& folder);

/// A source that can give its elements in any order, with a random order of all elements.
sample shuffled_source(dice& die, const scratch_folder& folder);

} // namespace headrace::detail::test::random
