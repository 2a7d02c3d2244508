#pragma once

#include <cstdint>
#include <cstdlib>
#include <fmt/core.h>
#include <random>

namespace headrace::detail::test {

/// The seed of a random test: the value of HEADRACE_TEST_SEED, or a different seed in each run. It
/// is printed.
inline uint64_t test_seed() {
  const char* given = std::getenv("HEADRACE_TEST_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  fmt::print("HEADRACE_TEST_SEED={}\n", seed);
  return seed;
}

} // namespace headrace::detail::test
