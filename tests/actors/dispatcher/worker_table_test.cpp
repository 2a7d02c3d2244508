#include "headrace/actors/dispatcher/worker_table.hpp"

#include <gtest/gtest.h>

namespace headrace {
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
  // Both come from a dispatcher that numbered them the other way round.
  const auto b = table.add(info(2, 20, "b:1"), now);
  const auto a = table.add(info(1, 10, "a:1"), now);
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

} // namespace
} // namespace headrace
