#include "headrace/actors/dispatcher/worker_table.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;

worker_info info(uint64_t id, uint64_t life, const std::string& address) {
  worker_info out;
  out.id = worker_id{id};
  out.life = incarnation{life};
  out.data_address = address;
  return out;
}

struct WorkerTable : testing::Test {
  worker_table table{{1s, 5s}};
  time_point now = clock::system().now();
};

TEST_F(WorkerTable, KnowsAWorkerAgainThatLostItsConnection) {
  const auto id = table.add(info(0, 10, "a:1"), now).id;
  const auto again = table.add(info(id.value, 10, "a:1"), now);
  EXPECT_EQ(again.id, id);
  EXPECT_FALSE(again.joined);
  EXPECT_FALSE(again.replaced);
}

TEST_F(WorkerTable, ReplacesTheEarlierProcessAtAnAddress) {
  const auto id = table.add(info(0, 10, "a:1"), now).id;
  const auto again = table.add(info(0, 11, "a:1"), now);
  EXPECT_EQ(again.id, id);
  EXPECT_TRUE(again.joined);
  ASSERT_TRUE(again.replaced);
  EXPECT_EQ(again.replaced->life, incarnation{10});
}

TEST_F(WorkerTable, GivesAnotherNumberWhenAnEarlierDispatchersIsTaken) {
  // The second worker registers with the number that an earlier dispatcher had given it.
  const auto b = table.add(info(0, 20, "b:1"), now);
  const auto a = table.add(info(b.id.value, 10, "a:1"), now);
  EXPECT_NE(a.id, b.id);
  EXPECT_FALSE(a.replaced);
  EXPECT_TRUE(table.renew(a.id, incarnation{10}, now));
  EXPECT_TRUE(table.renew(b.id, incarnation{20}, now));
}

TEST_F(WorkerTable, LetsAWorkerLeaveOnce) {
  const auto id = table.add(info(0, 10, "a:1"), now).id;
  EXPECT_FALSE(table.leave(id, incarnation{11})) << "another life";
  EXPECT_TRUE(table.leave(id, incarnation{10}));
  EXPECT_FALSE(table.leave(id, incarnation{10}));
  EXPECT_TRUE(table.alive().empty());
  EXPECT_TRUE(table.expire(now + 1h).empty());
}

/// Calls `expire` at each deadline until `end`; returns the workers whose leases expired.
std::vector<worker_info> keep(worker_table& table, time_point end) {
  std::vector<worker_info> lost;
  const auto look = [&](time_point now) {
    for (auto& x : table.expire(now)) lost.push_back(x);
  };
  for (auto next = table.next_deadline(); next && *next < end; next = table.next_deadline())
    look(*next);
  look(end);
  return lost;
}

TEST_F(WorkerTable, TellsWhoLeftFromWhoIsLost) {
  const auto left = table.add(info(0, 10, "a:1"), now).id;
  const auto lost = table.add(info(0, 20, "b:1"), now).id;
  table.leave(left, incarnation{10});
  keep(table, now + 5s);
  EXPECT_TRUE(table.all().at(left).left);
  EXPECT_FALSE(table.all().at(lost).left);
  EXPECT_FALSE(table.all().at(lost).alive);
  table.add(info(0, 11, "a:1"), now + 6s);
  EXPECT_FALSE(table.all().at(left).left) << "it is back";
}

TEST_F(WorkerTable, ForgetsWorkersThatAreGoneForLong) {
  for (uint64_t i = 1; i <= 1000; ++i) {
    table.add(info(0, i, "a:" + std::to_string(i)), now);
    now += worker_table::remembered / 10;
    keep(table, now);
    ASSERT_LE(table.all().size(), 12u);
  }
}

TEST_F(WorkerTable, NamesTheLivingWorkerThatHasAnAddressAlready) {
  const auto first = table.add(info(0, 10, "a:1"), now).id;
  EXPECT_FALSE(table.rival(info(0, 11, "b:1")));
  EXPECT_FALSE(table.rival(info(first.value, 10, "a:1"))) << "itself";
  ASSERT_TRUE(table.rival(info(0, 11, "a:1")));
  EXPECT_EQ(table.rival(info(0, 11, "a:1"))->id, first);
}

TEST_F(WorkerTable, GivesAnAddressToAnotherWhenTheConnectionOrTheLeaseIsLost) {
  const auto first = table.add(info(0, 10, "a:1"), now).id;
  table.disconnected(first, incarnation{9});
  EXPECT_TRUE(table.rival(info(0, 11, "a:1"))) << "an earlier life's";
  table.disconnected(first, incarnation{10});
  EXPECT_FALSE(table.rival(info(0, 11, "a:1")));
  EXPECT_TRUE(table.renew(first, incarnation{10}, now)) << "it is alive all the same";
  table.add(info(first.value, 10, "a:1"), now);
  EXPECT_TRUE(table.rival(info(0, 11, "a:1"))) << "connected again";
  keep(table, now + 5s);
  EXPECT_FALSE(table.rival(info(0, 11, "a:1")));
}

TEST_F(WorkerTable, LosesWhoIsSilentForALease) {
  const auto a = table.add(info(0, 10, "a:1"), now).id;
  const auto b = table.add(info(0, 20, "b:1"), now).id;
  EXPECT_TRUE(keep(table, now + 4s).empty());
  EXPECT_TRUE(table.renew(b, incarnation{20}, now + 4s));
  const auto lost = keep(table, now + 5s);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].id, a);
  EXPECT_FALSE(table.renew(a, incarnation{10}, now + 5s));
}

TEST_F(WorkerTable, LosesNobodyForALeaseAfterItsOwnAbsence) {
  const auto a = table.add(info(0, 10, "a:1"), now).id;
  const auto b = table.add(info(0, 20, "b:1"), now).id;
  EXPECT_TRUE(keep(table, now + 1s).empty());
  EXPECT_TRUE(table.expire(now + 8s).empty()) << "it was stopped for 7 s";
  EXPECT_TRUE(table.renew(a, incarnation{10}, now + 9s));
  EXPECT_TRUE(keep(table, now + 13s - 1ns).empty());
  const auto lost = keep(table, now + 13s);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].id, b);
}

} // namespace
} // namespace headrace::detail
