#include "headrace/pipeline/iterator/call_threads.hpp"

#include <gtest/gtest.h>
#include <latch>
#include <memory>

namespace headrace::detail {
namespace {

TEST(CallThreads, RunCallsThatWaitForEachOther) {
  constexpr int many = 20;
  auto met = std::make_shared<std::latch>(many + 1);
  call_threads threads;
  for (int i = 0; i < many; ++i) EXPECT_TRUE(threads.run([met] { met->arrive_and_wait(); }));
  met->arrive_and_wait();
}

TEST(CallThreads, AreNotWaitedForByWhoGoes) {
  auto go = std::make_shared<std::latch>(1), done = std::make_shared<std::latch>(1);
  auto begun = std::make_shared<std::latch>(1);
  {
    call_threads threads;
    threads.run([=] {
      begun->count_down();
      go->wait();
      done->count_down();
    });
    begun->wait();
  }
  go->count_down();
  done->wait();
}

} // namespace
} // namespace headrace::detail
