#pragma once

#include <cstdint>
#include <cstdlib>
#include <fmt/core.h>
#include <random>

namespace headrace::test {

/// Where a random test begins: another place each time, which it prints, or what
/// HEADRACE_TEST_SEED says.
inline uint64_t test_seed() {
  const char* given = std::getenv("HEADRACE_TEST_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  fmt::print("HEADRACE_TEST_SEED={}\n", seed);
  return seed;
}

} // namespace headrace::test
