#include "headrace/pipeline/engine/call_threads.hpp"
#include "tests/support/meeting.hpp"

#include <future>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

TEST(CallThreads, RunCallsThatWaitForEachOther) {
  constexpr int many = 20;
  auto all = std::make_shared<test::meeting>(many + 1);
  call_threads threads;
  for (int i = 0; i < many; ++i) EXPECT_TRUE(threads.run([all] { all->come(); }));
  EXPECT_TRUE(all->come());
}

TEST(CallThreads, AreNotWaitedForByWhoGoes) {
  auto go = std::make_shared<std::promise<void>>();
  std::promise<void> begun, done;
  auto ended = done.get_future();
  {
    call_threads threads;
    threads.run([&begun, go = go->get_future().share(),
                 done = std::make_shared<std::promise<void>>(std::move(done))] {
      begun.set_value();
      go.wait();
      done->set_value();
    });
    begun.get_future().wait();
  }
  go->set_value();
  EXPECT_EQ(ended.wait_for(test::patience), std::future_status::ready);
}

} // namespace
} // namespace headrace::detail
