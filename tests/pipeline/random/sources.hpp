#pragma once

#include "tests/pipeline/random/samples.hpp"

namespace headrace::detail::test::random {

/// A random source of numbers, which are in memory or in files. The function writes the files into
/// `folder`. The source may call a function by name, which `test::find_function` finds.
sample random_source(dice& die, const scratch_folder& folder);

/// A source that gives its numbers in an order that the generator does not compute.
sample reordered_source(dice& die, const scratch_folder& folder);

/// A global_shuffle of a random source that can be read in any order. The elements of the sample
/// have the order of the shuffle.
sample shuffled_source(dice& die, const scratch_folder& folder);

} // namespace headrace::detail::test::random
