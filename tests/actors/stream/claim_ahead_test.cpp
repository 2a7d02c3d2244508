#include "headrace/actors/stream/claim_ahead.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

/// A trainer whose consumer received 1,000 elements, of which the first sixteen are claimed.
class ClaimAhead : public testing::Test {
protected:
  ClaimAhead() { x.claim(0); }
  claim_ahead::progress at(uint64_t handed_out, uint64_t confirmed, bool held_up = false) {
    return {handed_out, 1000, confirmed, held_up};
  }

  claim_ahead x;
};

TEST_F(ClaimAhead, AsksForMoreWhenHalfIsTaken) {
  EXPECT_FALSE(x.update(at(7, 16)));
  EXPECT_TRUE(x.update(at(8, 16)));
  EXPECT_EQ(x.claim(8), 24u);
  EXPECT_FALSE(x.update(at(9, 16))) << "it has asked";
}

TEST_F(ClaimAhead, SaysNothingWhileAllThatIsThereMayBeHandedOut) {
  EXPECT_FALSE(x.update({.handed_out = 16, .received = 16, .confirmed = 16, .held_up = false}));
}

TEST_F(ClaimAhead, ClaimsTwiceAsMuchWhenTheTrainerHadToWait) {
  EXPECT_TRUE(x.update(at(16, 16, true)));
  EXPECT_EQ(x.claim(16), 48u);
  EXPECT_FALSE(x.update(at(16, 16, true))) << "it is the same wait";
  EXPECT_TRUE(x.update(at(48, 48, true)));
  EXPECT_EQ(x.claim(48), 112u);
}

TEST_F(ClaimAhead, ClaimsHalfAsMuchWhenTheTrainerTookLittleUntilTheAnswer) {
  x.update(at(16, 16, true));
  x.update(at(48, 48, true));
  EXPECT_EQ(x.claim(48), 112u);
  x.answered(at(96, 112));
  EXPECT_EQ(x.claim(96), 96u + 64) << "half of the rest was taken";
  x.answered(at(130, 160));
  EXPECT_EQ(x.claim(130), 130u + 32);
  for (int i = 0; i < 10; ++i) x.answered(at(130, 200));
  EXPECT_EQ(x.claim(130), 130u + claim_ahead::least);
}

TEST_F(ClaimAhead, ClaimsAnewWhatWasGivenBack) {
  x.claim(0);
  x.gave_back(2);
  EXPECT_TRUE(x.update({.handed_out = 2, .received = 40, .confirmed = 2, .held_up = false}));
}

} // namespace
} // namespace headrace::detail
