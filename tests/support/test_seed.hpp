#pragma once

#include <cstdint>
#include <cstdlib>
#include <fmt/core.h>
#include <random>

namespace headrace::detail::test {

/// The seed of a random test: a different one in each run, which is printed, or HEADRACE_TEST_SEED.
inline uint64_t test_seed() {
  const char* given = std::getenv("HEADRACE_TEST_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  fmt::print("HEADRACE_TEST_SEED={}\n", seed);
  return seed;
}

} // namespace headrace::detail::test
