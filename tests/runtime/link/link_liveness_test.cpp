#include "headrace/runtime/link/link_liveness.hpp"

#include "headrace/runtime/base/clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using verdict = silence_watch::verdict;
using ::testing::HasSubstr;

TEST(LinkLiveness, RefusesPairsThatOneLatePingWouldEnd) {
  EXPECT_TRUE(link_liveness{}.check());
  EXPECT_TRUE((link_liveness{1s, 2s}.check()));
  EXPECT_TRUE((link_liveness{1h, duration::max()}.check()));
  for (const auto& wrong : {link_liveness{1s, 1999ms}, link_liveness{0s, 5s},
                            link_liveness{-1s, 5s}, link_liveness{1s, -5s}, link_liveness{1s, 0s},
                            link_liveness{1s, duration::min()}, link_liveness{2h, 10h}})
    EXPECT_EQ(wrong.check().code(), status_code::invalid_argument);
  EXPECT_THAT((link_liveness{1s, 1500ms}.check().message()), HasSubstr("1.5 s"));
}

TEST(SilenceWatch, PingsOnceAnInterval) {
  manual_clock time;
  silence_watch watch{{1s, 5s}, 1s, time.now()};
  EXPECT_EQ(watch.look(time.now()), verdict::well);
  EXPECT_EQ(watch.next(), time.now() + 1s);
  for (int i = 0; i < 10; ++i) {
    time.advance(1s);
    watch.heard();
    EXPECT_EQ(watch.look(time.now()), verdict::ping_due);
    EXPECT_EQ(watch.look(time.now()), verdict::well);
    EXPECT_EQ(watch.next(), time.now() + 1s);
  }
}

TEST(SilenceWatch, GivesAPeerUpAtTheLimitAndNotBefore) {
  manual_clock time;
  silence_watch watch{{2s, 5s}, 2s, time.now()};
  watch.begin(time.now());
  time.advance(2s);
  watch.heard();
  EXPECT_EQ(watch.look(time.now()), verdict::ping_due);
  for (auto x : {2s, 2s}) {
    time.advance(x);
    EXPECT_EQ(watch.look(time.now()), verdict::ping_due);
  }
  // The next check is due at the limit of silence, which comes before the next ping.
  EXPECT_EQ(watch.next(), time.now() + 1s);
  time.advance(1s - 1ns);
  EXPECT_EQ(watch.look(time.now()), verdict::well);
  time.advance(1ns);
  EXPECT_EQ(watch.look(time.now()), verdict::silent);
  EXPECT_EQ(watch.silence(time.now()), 5s);
}

TEST(SilenceWatch, HearsWhatCameJustBeforeTheLimit) {
  manual_clock time;
  silence_watch watch{{1s, 2s}, 1s, time.now()};
  watch.begin(time.now());
  for (int i = 0; i < 100; ++i) {
    time.advance(1s);
    EXPECT_NE(watch.look(time.now()), verdict::silent);
    time.advance(1s - 1ns);
    watch.heard();
    time.advance(1ns);
    EXPECT_NE(watch.look(time.now()), verdict::silent) << i;
  }
}

TEST(SilenceWatch, SaysNothingOfAPeerThatNobodyReads) {
  manual_clock time;
  silence_watch watch{{1s, 5s}, 1s, time.now()};
  time.advance(1h);
  EXPECT_EQ(watch.look(time.now()), verdict::ping_due);
  watch.begin(time.now());
  time.advance(5s - 1ns);
  EXPECT_NE(watch.look(time.now()), verdict::silent);
  watch.begin(time.now()); // called when handlers are replaced, which is no sign of life
  time.advance(1ns);
  EXPECT_EQ(watch.look(time.now()), verdict::silent);
}

TEST(SilenceWatch, WaitsTwiceAsLongAsThePeerPromised) {
  manual_clock time;
  silence_watch rare{{1s, 5s}, 10s, time.now()};
  EXPECT_EQ(rare.limit(), 20s);
  silence_watch often{{1s, 5s}, 1ms, time.now()};
  EXPECT_EQ(often.limit(), 5s);
}

TEST(SilenceWatch, NeverGivesUpAPeerThatPromisedNothing) {
  manual_clock time;
  silence_watch watch{{1s, 5s}, 0s, time.now()};
  watch.begin(time.now());
  for (int i = 0; i < 10; ++i) {
    time.advance(1h);
    EXPECT_EQ(watch.look(time.now()), verdict::ping_due);
    EXPECT_EQ(watch.next(), time.now() + 1s);
  }
}

} // namespace
} // namespace headrace::detail
