#include "tests/client/support/own_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace headrace::test {
namespace {

/// What came of a reading that something was killed under.
struct outcome {
  std::vector<int64_t> seen;
  status how;
};

void read_rest(dataset_iterator& from, outcome& to) {
  while (auto rows = from.next_block()) {
    if (!rows->errors.empty()) {
      to.how = rows->errors[0].why;
      return;
    }
    add_all(to.seen, *rows);
  }
}

bool any_twice(const std::vector<int64_t>& x) {
  const auto all = sorted(x);
  return std::adjacent_find(all.begin(), all.end()) != all.end();
}

bool was_killed_once(const supervised& x) {
  return x.restarts == 1 && x.last_reason == "cancelled: killed" && x.state == "running";
}

std::vector<int64_t> each_once(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(i);
  return out;
}

constexpr int64_t total = 300'000;

distribute dynamic_over(const test_dispatcher& x) {
  return distribute{{.processing_mode = sharding_policy::dynamic, .service = x.target()}};
}

TEST(RoleRestart, AWorkersActorIsStartedAgainAndNothingComesTwice) {
  test_dispatcher cluster;
  const auto options = with_function([](const block& rows) { return result<block>{rows}; });
  test_worker dies{cluster.target(), options}, stays{cluster.target(), options};
  cluster.await_workers(2);
  const auto from = through_f(total).apply(dynamic_over(cluster));
  outcome got;
  auto reading = from.iterate();
  auto rows = reading.next_block();
  ASSERT_TRUE(rows);
  add_all(got.seen, *rows);
  dies.actors.kill_all();
  EXPECT_TRUE(cluster.shows([](const service_status& x) {
    return find_in(x.tree, "worker", was_killed_once)
           && std::count_if(x.workers.begin(), x.workers.end(), [](const worker_status& w) {
                return w.alive;
              }) == 2;
  }));
  read_rest(reading, got);
  EXPECT_TRUE(got.how.ok()) << to_string(got.how);
  EXPECT_FALSE(any_twice(got.seen));

  outcome next;
  auto again = from.iterate();
  read_rest(again, next);
  EXPECT_TRUE(next.how.ok()) << to_string(next.how);
  EXPECT_EQ(sorted(next.seen), each_once(total));
}

TEST(RoleRestart, ADispatchersActorIsStartedAgainItsReaderIsToldAndNothingComesTwice) {
  test_dispatcher cluster;
  const auto options = with_function([](const block& rows) { return result<block>{rows}; });
  test_worker one{cluster.target(), options}, two{cluster.target(), options};
  cluster.await_workers(2);
  register_dataset(cluster.target(), dataset::range(100), "hundred");
  const auto from = through_f(total).apply(dynamic_over(cluster));
  outcome got;
  auto reading = from.iterate();
  auto rows = reading.next_block();
  ASSERT_TRUE(rows);
  add_all(got.seen, *rows);
  cluster.actors.kill_all();
  EXPECT_TRUE(cluster.shows([](const service_status& x) {
    return find_in(x.tree, "dispatcher", was_killed_once) && x.workers.size() == 2;
  }));
  read_rest(reading, got);
  EXPECT_FALSE(any_twice(got.seen));
  if (got.how.ok()) // what was under way sufficed
    EXPECT_EQ(sorted(got.seen), each_once(total));
  else
    EXPECT_THAT(got.how.message(), testing::HasSubstr("job")) << to_string(got.how);

  outcome next;
  auto again = from.iterate();
  read_rest(again, next);
  EXPECT_TRUE(next.how.ok()) << to_string(next.how);
  EXPECT_EQ(sorted(next.seen), each_once(total));
  outcome known;
  auto by_id =
    from_dataset_id({.processing_mode = sharding_policy::dynamic, .service = cluster.target()},
                    "hundred")
      .iterate();
  read_rest(by_id, known);
  EXPECT_EQ(sorted(known.seen), each_once(100));
}

} // namespace
} // namespace headrace::test
