#include "headrace/runtime/lease/lease_table.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace std::chrono_literals;

namespace headrace::detail {
namespace {

using holders = std::vector<int>;

/// A table with leases of 5 s.
struct table : lease_table<int> {
  table() : lease_table{5s} {}
};

time_point at(duration x) { return time_point{} + 1h + x; }

/// The holders whose leases expire until `end`, if the table is checked regularly.
holders keep(table& leases, time_point end) {
  holders out;
  const auto look = [&](time_point now) {
    for (auto x : leases.advance(now)) out.push_back(x);
  };
  for (auto next = leases.next_deadline(); next && *next < end; next = leases.next_deadline())
    look(*next);
  look(end);
  return out;
}

TEST(LeaseTable, EndsALeaseThatNobodyRenews) {
  table leases;
  leases.grant(1, at(0s));
  EXPECT_EQ(keep(leases, at(5s - 1ns)), holders{});
  EXPECT_EQ(leases.next_deadline(), at(5s));
  EXPECT_EQ(leases.advance(at(5s)), (holders{1}));
  EXPECT_FALSE(leases.contains(1));
  EXPECT_FALSE(leases.renew(1, at(6s)));
  EXPECT_EQ(leases.next_deadline(), std::nullopt);
}

TEST(LeaseTable, KeepsAHolderThatRenews) {
  table leases;
  leases.grant(1, at(0s));
  for (auto t = 1s; t < 20s; t += 1s) {
    EXPECT_TRUE(leases.renew(1, at(t)));
    EXPECT_EQ(leases.advance(at(t)), holders{});
  }
  EXPECT_EQ(leases.renewed(1), at(19s));
}

TEST(LeaseTable, ForgetsWhoSaysGoodbye) {
  table leases;
  leases.grant(1, at(0s));
  leases.grant(2, at(1s));
  EXPECT_TRUE(leases.release(1));
  EXPECT_FALSE(leases.release(1));
  EXPECT_EQ(keep(leases, at(6s)), (holders{2}));
}

TEST(LeaseTable, DeclaresNobodyDeadForOneLeaseAfterAReturn) {
  table leases;
  leases.grant(1, at(0s));
  leases.grant(2, at(0s));
  leases.returned(at(4s));
  EXPECT_EQ(keep(leases, at(8s)), holders{});
  leases.renew(2, at(8s));
  EXPECT_EQ(keep(leases, at(9s - 1ns)), holders{});
  EXPECT_EQ(keep(leases, at(9s)), (holders{1}));
  EXPECT_TRUE(leases.contains(2));
}

TEST(LeaseTable, EndsNobodyForOneLeaseAfterAnAbsenceOfWhateverLength) {
  for (duration absence : {1300ms, 4900ms, 5000ms, 7000ms, 3'600'000ms}) {
    SCOPED_TRACE(absence.count());
    table leases;
    leases.grant(1, at(0s));
    leases.grant(2, at(0s));
    EXPECT_EQ(keep(leases, at(900ms)), holders{});
    const auto back = at(900ms + absence);
    EXPECT_EQ(leases.advance(back), holders{});
    EXPECT_EQ(keep(leases, back + 4s), holders{});
    EXPECT_TRUE(leases.renew(2, back + 4s));
    EXPECT_EQ(keep(leases, back + 5s - 1ns), holders{});
    EXPECT_EQ(keep(leases, back + 5s), (holders{1}));
  }
}

TEST(LeaseTable, NoticesAnAbsenceByAHeartbeatThatComesFirst) {
  table leases;
  leases.grant(1, at(0s));
  leases.grant(2, at(0s));
  leases.renew(1, at(7s));
  EXPECT_EQ(leases.advance(at(7s)), holders{});
  EXPECT_TRUE(leases.contains(2));
}

TEST(LeaseTable, LosesNobodyThatBeatsByAnAbsenceThatIsNotNoticed) {
  table leases;
  for (auto t = 0ms; t < 100s; t += 2500ms) { // half a lease, the longest interval of heartbeats
    leases.grant(1, at(t));
    EXPECT_EQ(keep(leases, at(t + 1249ms)), holders{});
    EXPECT_EQ(keep(leases, at(t + 2499ms)), holders{}) << "as long as is not noticed";
  }
}

TEST(LeaseTable, ReportsTheEarliestFirst) {
  table leases;
  leases.grant(3, at(0s));
  leases.grant(1, at(1s));
  leases.grant(2, at(0s));
  EXPECT_EQ(keep(leases, at(4s)), holders{});
  EXPECT_EQ(leases.advance(at(5s)), (holders{2, 3}));
  EXPECT_EQ(keep(leases, at(6s)), (holders{1}));
}

// The model has only one rule: a lease expires exactly one lease time after its holder's last sign
// of life.
TEST(LeaseTable, AgreesWithAPlainModelOnRandomEvents) {
  auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  table leases;
  std::map<int, time_point> last;
  auto now = at(0s);
  for (int step = 0; step < 200'000; ++step) {
    now += 1ms * static_cast<int>(random() % 400);
    for (auto holder : leases.advance(now)) {
      ASSERT_TRUE(last.contains(holder));
      ASSERT_LE(last[holder] + 5s, now);
      last.erase(holder);
    }
    for (auto& [holder, heard] : last) ASSERT_GT(heard + 5s, now) << holder;
    auto who = static_cast<int>(random() % 20);
    switch (random() % 7) {
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
} // namespace headrace::detail
