#include "headrace/runtime/process/heap.hpp"

#include "tests/runtime/process/child_body.hpp"
#include "tests/support/sanitized.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

size_t resident_mib() {
  size_t all = 0, resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

void* volatile last; ///< keeps the compiler from removing memory that is not read

void* filled(size_t bytes) {
  last = std::malloc(bytes);
  std::memset(last, 1, bytes);
  return last;
}

/// Allocates 12 pieces of 16 MiB with small pieces between them, and frees the large pieces. The
/// exit code is the number of MiB that stay in use.
const child_body frees_large_memory{
  "frees_large_memory", [](const std::vector<std::string>& args) {
    if (args.at(0) == "set")
      return_large_memory_at_once();
    std::free(filled(20 << 20)); // by default, glibc now keeps freed pieces of up to this size
    const auto before = resident_mib();
    std::vector<void*> large, small;
    for (int i = 0; i < 12; ++i) {
      large.push_back(filled(16 << 20));
      small.push_back(filled(100'000));
    }
    for (auto* x : large) std::free(x);
    const auto kept = resident_mib() - before;
    for (auto* x : small) std::free(x);
    return std::clamp(static_cast<int>(kept), 0, 255);
  }};

int mib_kept(const std::string& setting) {
  return frees_large_memory.start({setting}).wait(60s).value().as_exit_code();
}

TEST(Heap, LargeMemoryThatIsFreedIsReturnedToTheSystem) {
  if (sanitized)
    GTEST_SKIP() << "a sanitizer has a heap of its own";
  EXPECT_LT(mib_kept("set"), 32);
  EXPECT_GT(mib_kept("not set"), 128)
    << "the C library does so without the setting: it is not needed any more";
}

} // namespace
} // namespace headrace::detail::test
