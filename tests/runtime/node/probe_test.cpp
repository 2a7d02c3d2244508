#include "headrace/runtime/node/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <pthread.h>

namespace headrace::detail {
namespace {

/// While the object exists, no thread can be started: the default size of stacks is larger than the
/// address space.
class no_threads {
public:
  no_threads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, size_t{1} << 47);
    EXPECT_EQ(::pthread_setattr_default_np(&huge), 0);
    ::pthread_attr_destroy(&huge);
  }
  ~no_threads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

private:
  pthread_attr_t before_;
};

TEST(Prober, SaysThatItGetsNoThreadAndEndsAllTheSame) {
  prober asking;
  std::optional<status> told;
  {
    const no_threads now;
    asking.probe({"", "127.0.0.1", 1}, {}, [&](status how) { told = std::move(how); });
  }
  ASSERT_TRUE(told);
  EXPECT_EQ(told->code(), status_code::resource_exhausted);
  EXPECT_THAT(told->message(), testing::HasSubstr("127.0.0.1:1"));
  // `drain` must not wait for the thread that could not be started.
  asking.drain();
}

} // namespace
} // namespace headrace::detail
