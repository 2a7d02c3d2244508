#include "headrace/runtime/base/descriptors.hpp"
#include "tests/support/few_descriptors.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::few_descriptors;

constexpr descriptor_patience for_ever{.in_all = 24h};

TEST(Descriptors, TheSoftLimitIsRaisedToTheHardOne) {
  const few_descriptors few{50};
  const auto most = std::min(few.hard(), most_descriptors);
  EXPECT_EQ(descriptor_limit(), few.limit());
  EXPECT_EQ(raise_descriptor_limit(), most);
  EXPECT_EQ(descriptor_limit(), most);
  EXPECT_EQ(raise_descriptor_limit(), most) << "once more changes nothing";
}

TEST(Descriptors, HalfAreTakenWhenTheLowestFreeOneIsInTheUpperHalf) {
  few_descriptors few{2};
  EXPECT_FALSE(lower_half_of_descriptors_taken(STDERR_FILENO));
  few.take_half();
  EXPECT_TRUE(lower_half_of_descriptors_taken(STDERR_FILENO));
  few.take_all();
  EXPECT_TRUE(lower_half_of_descriptors_taken(STDERR_FILENO)) << "none is left at all";
  few.give_back();
  EXPECT_FALSE(lower_half_of_descriptors_taken(STDERR_FILENO));
}

TEST(WithDescriptors, TriesAgainUntilThereAreSome) {
  int calls = 0;
  const auto attempt = [&] {
    errno = ++calls % 2 == 0 ? EMFILE : ENFILE;
    return calls < 5 ? -1 : 42;
  };
  EXPECT_EQ(with_descriptors(attempt, {}, {.in_all = 24h, .longest_pause = 2ms}), 42);
  EXPECT_EQ(calls, 5);
}

TEST(WithDescriptors, TakesAnyOtherErrorAtOnce) {
  int calls = 0;
  const auto attempt = [&] {
    ++calls;
    errno = ENOENT;
    return -1;
  };
  EXPECT_EQ(with_descriptors(attempt, {}, for_ever), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(calls, 1);
}

TEST(WithDescriptors, GivesUpAfterABoundedTime) {
  int calls = 0;
  const auto attempt = [&] {
    ++calls;
    errno = EMFILE;
    return -1;
  };
  const auto begin = clock::system().now();
  EXPECT_EQ(with_descriptors(attempt, {}, {.in_all = 30ms}), -1);
  EXPECT_EQ(errno, EMFILE);
  EXPECT_GE(clock::system().now() - begin, 30ms);
  EXPECT_GT(calls, 1);
  EXPECT_LT(calls, 10) << "the pauses grow";
}

TEST(OpenPatiently, OpensNoOtherFileForANameWithAZeroByte) {
  errno = 0;
  EXPECT_EQ(open_patiently(std::string{"/dev/null\0x", 11}, O_RDONLY), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST(WithDescriptors, StopsWaitingWhenToldTo) {
  std::stop_source stop;
  const auto attempt = [] {
    errno = EMFILE;
    return -1;
  };
  std::jthread other{[&] { stop.request_stop(); }};
  EXPECT_EQ(with_descriptors(attempt, stop.get_token(), for_ever), -1);
  EXPECT_EQ(errno, EMFILE);
}

} // namespace
} // namespace headrace::detail
