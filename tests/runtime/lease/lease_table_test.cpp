#include "headrace/runtime/lease/lease_table.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace std::chrono_literals;

namespace headrace {
namespace {

using table = lease_table<int>;
using events = std::vector<table::event>;
using enum table::change;

time_point at(duration x) { return time_point{} + 1h + x; }

TEST(LeaseTable, EndsALeaseThatNobodyRenews) {
  table leases;
  leases.grant(1, at(0s));
  EXPECT_EQ(leases.next_deadline(), at(5s));
  EXPECT_EQ(leases.advance(at(5s - 1ns)), events{});
  EXPECT_EQ(leases.advance(at(5s)), (events{{1, expired}}));
  EXPECT_FALSE(leases.contains(1));
  EXPECT_FALSE(leases.renew(1, at(6s)));
  EXPECT_EQ(leases.next_deadline(), std::nullopt);
}

TEST(LeaseTable, KeepsAHolderThatRenews) {
  table leases;
  leases.grant(1, at(0s));
  for (auto t = 1s; t < 20s; t += 1s) {
    EXPECT_TRUE(leases.renew(1, at(t)));
    EXPECT_EQ(leases.advance(at(t)), events{});
  }
  EXPECT_EQ(leases.renewed(1), at(19s));
}

TEST(LeaseTable, ReportsALostConnectionAfterTheReconnectTimeAndDeathAfterTheLease) {
  table leases;
  leases.grant(1, at(0s));
  leases.disconnected(1, at(1s));
  EXPECT_TRUE(leases.reachable(1));
  EXPECT_EQ(leases.next_deadline(), at(1250ms));
  EXPECT_EQ(leases.advance(at(1250ms)), (events{{1, unreachable}}));
  EXPECT_FALSE(leases.reachable(1));
  EXPECT_TRUE(leases.contains(1));
  EXPECT_EQ(leases.advance(at(5s)), (events{{1, expired}}));
}

TEST(LeaseTable, SaysNothingOfAHolderThatIsBackInTime) {
  table leases;
  leases.grant(1, at(0s));
  leases.disconnected(1, at(1s));
  leases.renew(1, at(1249ms));
  EXPECT_EQ(leases.advance(at(1300ms)), events{});
  EXPECT_EQ(leases.next_deadline(), at(6249ms));
}

TEST(LeaseTable, CountsTheReconnectTimeFromTheFirstLoss) {
  table leases;
  leases.grant(1, at(0s));
  leases.disconnected(1, at(1s));
  leases.disconnected(1, at(1200ms));
  EXPECT_EQ(leases.advance(at(1250ms)), (events{{1, unreachable}}));
}

TEST(LeaseTable, ForgetsWhoSaysGoodbye) {
  table leases;
  leases.grant(1, at(0s));
  leases.grant(2, at(1s));
  EXPECT_TRUE(leases.release(1));
  EXPECT_FALSE(leases.release(1));
  EXPECT_EQ(leases.advance(at(6s)), (events{{2, expired}}));
}

TEST(LeaseTable, DeclaresNobodyDeadForOneLeaseAfterAReturn) {
  table leases;
  leases.grant(1, at(0s));
  leases.grant(2, at(0s));
  leases.returned(at(4s));
  EXPECT_EQ(leases.advance(at(9s - 1ns)), events{});
  leases.renew(2, at(8s));
  EXPECT_EQ(leases.advance(at(9s)), (events{{1, expired}}));
  EXPECT_TRUE(leases.contains(2));
}

TEST(LeaseTable, TakesItsOwnLongSleepForAReturn) {
  table leases;
  leases.grant(1, at(0s));
  EXPECT_EQ(leases.advance(at(10s + 1ns)), events{});
  EXPECT_EQ(leases.next_deadline(), at(15s + 1ns));
  EXPECT_EQ(leases.advance(at(15s + 1ns)), (events{{1, expired}}));
}

TEST(LeaseTable, ReportsTheEarliestFirst) {
  table leases;
  leases.grant(3, at(0s));
  leases.grant(1, at(1s));
  leases.grant(2, at(0s));
  EXPECT_EQ(leases.advance(at(6s)), (events{{2, expired}, {3, expired}, {1, expired}}));
}

// A model that knows only the rule: a holder ends exactly one lease after its last sign of life.
TEST(LeaseTable, AgreesWithAPlainModelOnRandomEvents) {
  auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  table leases;
  std::map<int, time_point> last;
  auto now = at(0s);
  for (int step = 0; step < 200'000; ++step) {
    now += 1ms * static_cast<int>(random() % 400);
    for (auto& x : leases.advance(now))
      if (x.what == expired) {
        ASSERT_TRUE(last.contains(x.holder));
        ASSERT_LE(last[x.holder] + 5s, now);
        last.erase(x.holder);
      } else {
        ASSERT_TRUE(last.contains(x.holder));
      }
    for (auto& [holder, heard] : last) ASSERT_GT(heard + 5s, now) << holder;
    auto who = static_cast<int>(random() % 20);
    switch (random() % 8) {
    case 0: leases.disconnected(who, now); break;
    case 1: ASSERT_EQ(leases.release(who), last.erase(who) == 1); break;
    case 2:
      leases.grant(who, now);
      last[who] = now;
      break;
    default:
      ASSERT_EQ(leases.renew(who, now), last.contains(who));
      if (last.contains(who))
        last[who] = now;
    }
    ASSERT_EQ(leases.size(), last.size());
    ASSERT_EQ(leases.next_deadline().has_value(), !last.empty());
  }
}

} // namespace
} // namespace headrace
