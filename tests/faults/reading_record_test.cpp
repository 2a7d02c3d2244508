#include "tests/support/reading_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class ReadingRecord : public testing::Test {
protected:
  ~ReadingRecord() override { std::filesystem::remove(file); }

  const std::string file =
    std::filesystem::temp_directory_path() / ("headrace-record-" + std::to_string(::getpid()));
  reading_record seen = reading_record::create(file, 4);
  reading_record written = reading_record::open(file);
};

TEST_F(ReadingRecord, IsSeenByOthersAtOnce) {
  EXPECT_FALSE(seen.ended());
  written.add(7, time_point{3s});
  EXPECT_THAT(seen.handed_out(), ElementsAre(7));
  EXPECT_THAT(seen.handed_out_at(), ElementsAre(3'000'000'000));
  written.asks(time_point{10s});
  written.was_answered(time_point{12s});
  EXPECT_EQ(seen.longest_wait(), 2s);
  written.remark("some are missing");
  written.end(aborted("given up"));
  EXPECT_EQ(seen.remark(), "some are missing");
  EXPECT_EQ(seen.ended(), aborted("given up"));
}

TEST_F(ReadingRecord, CountsWhatItHasNoRoomFor) {
  for (int64_t x = 0; x < 6; ++x) written.add(x, time_point{1s});
  EXPECT_EQ(seen.count(), 6u);
  EXPECT_THAT(seen.handed_out(), ElementsAre(0, 1, 2, 3));
}

TEST_F(ReadingRecord, TakesWhatAProcessIsHandedFirstAfterAStopForHandedOutBefore) {
  written.add(1, time_point{1s});
  for (int64_t x : {2, 3}) written.add(x, time_point{9s}); // a batch of two
  written.add(4, time_point{10s});
  seen.was_stopped_at(1);
  EXPECT_THAT(seen.handed_out_at(),
              ElementsAre(1'000'000'000, 1'000'000'000, 1'000'000'000, 10'000'000'000));
}

} // namespace
} // namespace headrace::detail::test
