#include "tests/client/support/own_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace headrace::detail::test {
namespace {

/// The result of a reading during which an actor was killed.
struct reading_end {
  std::vector<int64_t> seen;
  status how;
};

void read_rest(dataset_iterator& from, reading_end& to) {
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

constexpr int64_t all_numbers = 300'000;

/// A dispatcher and two workers. The tests kill some of their actors.
struct RoleRestart : testing::Test {
  RoleRestart() { cluster.await_workers(2); }

  dataset over_both(const dataset& what) const {
    return what.apply(
      distribute{{.processing_mode = sharding_policy::dynamic, .service = cluster.target()}});
  }
  static reading_end whole(const dataset& from) {
    reading_end out;
    auto reading = from.iterate();
    read_rest(reading, out);
    return out;
  }
  /// Reads one block, calls `kill`, waits until the status satisfies `again`, and reads the rest.
  template <class Kill, class Again>
  reading_end read_across(const dataset& from, Kill&& kill, Again&& again) {
    reading_end got;
    auto reading = from.iterate();
    if (auto rows = reading.next_block())
      add_all(got.seen, *rows);
    kill();
    EXPECT_TRUE(cluster.shows(again));
    read_rest(reading, got);
    EXPECT_FALSE(any_twice(got.seen));
    return got;
  }
  static void expect_whole(const dataset& from) {
    const auto next = whole(from);
    EXPECT_TRUE(next.how.ok()) << to_string(next.how);
    EXPECT_EQ(sorted(next.seen), each_once(all_numbers));
  }

  const worker_options options = with_function([](const block& x) { return result<block>{x}; });
  test_dispatcher cluster;
  test_worker one{cluster.target(), options}, two{cluster.target(), options};
  const dataset from = over_both(through_f(all_numbers));
};

TEST_F(RoleRestart, AWorkersActorIsStartedAgainAndNothingComesTwice) {
  const auto got = read_across(
    from, [&] { one.actors.kill_all(); },
    [](const service_status& x) {
      return find_in(x.tree, "worker", was_killed_once)
             && std::ranges::count_if(x.workers, &worker_status::alive) == 2;
    });
  EXPECT_TRUE(got.how.ok()) << to_string(got.how);
  expect_whole(from);
}

TEST_F(RoleRestart, ADispatchersActorIsStartedAgainItsReaderIsToldAndNothingComesTwice) {
  register_dataset(cluster.target(), dataset::range(100), "hundred");
  const auto got = read_across(
    from, [&] { cluster.actors.kill_all(); },
    [](const service_status& x) {
      return find_in(x.tree, "dispatcher", was_killed_once) && x.workers.size() == 2;
    });
  if (got.how.ok()) // all remaining elements were already under way
    EXPECT_EQ(sorted(got.seen), each_once(all_numbers));
  else
    EXPECT_THAT(got.how.message(), testing::HasSubstr("job")) << to_string(got.how);
  expect_whole(from);
  const auto known = whole(from_dataset_id(
    {.processing_mode = sharding_policy::dynamic, .service = cluster.target()}, "hundred"));
  EXPECT_EQ(sorted(known.seen), each_once(100));
}

} // namespace
} // namespace headrace::detail::test
