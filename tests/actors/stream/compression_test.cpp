#include "headrace/actors/stream/compression_choice.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

constexpr size_t block = size_t{1} << 20;

/// The number of blocks that were to be compressed, and the number of samples that were compressed
/// to make this choice.
struct outcome {
  int compressed = 0;
  int samples = 0;
};
/// Offers `blocks` blocks of which each sample shrinks to `share` of its size.
outcome feed(compression_choice& choice, double share, int blocks, size_t bytes = block) {
  outcome out;
  for (int i = 0; i < blocks; ++i)
    out.compressed += choice.next(bytes, [&] {
      ++out.samples;
      return share;
    });
  return out;
}

TEST(CompressionChoice, CompressesNothingOnOneHostUnlessAsked) {
  compression_choice automatic{compression::automatic, true};
  const auto left_to_us = feed(automatic, 0.1, 100);
  EXPECT_EQ(left_to_us.compressed, 0);
  EXPECT_EQ(left_to_us.samples, 0);
  compression_choice asked{compression::snappy, true};
  EXPECT_EQ(feed(asked, 0.1, 100).compressed, 100);
}

TEST(CompressionChoice, DoesWhatIsAskedWithoutSamples) {
  for (const auto what : {compression::none, compression::snappy}) {
    compression_choice choice{what, false};
    const auto out = feed(choice, 0.5, 10);
    EXPECT_EQ(out.compressed, what == compression::snappy ? 10 : 0);
    EXPECT_EQ(out.samples, 0);
  }
}

TEST(CompressionChoice, CompressesBetweenHostsWhatShrinksByAQuarter) {
  compression_choice pays{compression::automatic, false};
  EXPECT_EQ(feed(pays, compression_choice::paying_share, 100).compressed, 100);
  compression_choice does_not{compression::automatic, false};
  EXPECT_EQ(feed(does_not, compression_choice::paying_share + 0.01, 100).compressed, 0);
}

TEST(CompressionChoice, LeavesSmallBlocksAsTheyAre) {
  compression_choice choice{compression::automatic, false};
  const auto out = feed(choice, 0.1, 10, compression_choice::smallest_block - 1);
  EXPECT_EQ(out.compressed, 0);
  EXPECT_EQ(out.samples, 0);
}

TEST(CompressionChoice, SamplesEverMoreRarelyWhileItDoesNotPay) {
  compression_choice choice{compression::automatic, false};
  constexpr int blocks = 10 << 10; // 10 GiB
  const auto out = feed(choice, 1, blocks);
  EXPECT_EQ(out.compressed, 0);
  EXPECT_GE(out.samples, 10); // in the end one sample for each GiB
  EXPECT_LE(out.samples, 20);
}

TEST(CompressionChoice, NoticesThatTheElementsHaveChanged) {
  compression_choice choice{compression::automatic, false};
  constexpr auto until_noticed = static_cast<int>(compression_choice::first_distance / block) + 1;
  (void)feed(choice, 0.3, 5);
  (void)feed(choice, 1, until_noticed);
  EXPECT_EQ(feed(choice, 1, 3).compressed, 0);
  (void)feed(choice, 0.3, 2 * until_noticed);
  EXPECT_EQ(feed(choice, 0.3, 3).compressed, 3);
}

} // namespace
} // namespace headrace::detail
