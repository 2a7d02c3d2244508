#include "headrace/client/command/run/run_ranks.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::command {
namespace {

using namespace std::chrono_literals;
using ranks = std::vector<int>;
using records = std::map<int, run_progress>;

worker_status worker_of_rank(int rank, bool alive = true, bool left = false,
                             const std::string& process = "me") {
  worker_status out{.address = "10.0.0.1:70" + std::to_string(rank)};
  out.tags = {tag_of_rank(rank), tag_of_process(process)};
  out.alive = alive;
  out.left = left;
  return out;
}

service_status with(std::vector<worker_status> workers) {
  service_status out;
  out.workers = std::move(workers);
  return out;
}

run_progress in_state(std::string state, int workers = 1) {
  return {.state = std::move(state), .host = "a", .workers = workers, .process = "p"};
}

const run_rank second_of_three{.rank = 1, .size = 3};

TEST(RanksText, CountsThem) {
  EXPECT_EQ(ranks_text({1}), "rank 1");
  EXPECT_EQ(ranks_text({0, 2, 5}), "ranks 0, 2 and 5");
}

TEST(MissingAtBegin, IsWhoHasTooFewWorkersWhereRanksMeetAtAnAddress) {
  const auto x = missing_at_begin(with({worker_of_rank(0), worker_of_rank(0), worker_of_rank(1)}),
                                  second_of_three, 2, nullptr);
  EXPECT_EQ(x.ranks, (ranks{1, 2}));
  EXPECT_EQ(x.about, "; of rank 1 there is 1 of 2 workers; of rank 2 there are 0 of 2 workers");
  // A worker that has left counts as one that was present.
  const auto left = worker_of_rank(2, false, true);
  EXPECT_EQ(missing_at_begin(with({worker_of_rank(0), worker_of_rank(1), left}), second_of_three, 1,
                             nullptr)
              .ranks,
            ranks{});
}

TEST(MissingAtBegin, IsWhoHasNoRecordWhereRanksMeetInADirectory) {
  const records some{{0, in_state("running", 2)}, {1, in_state("running")}};
  EXPECT_EQ(
    missing_at_begin(with({worker_of_rank(0), worker_of_rank(1)}), second_of_three, 1, &some).ranks,
    (ranks{0, 2}))
    << "rank 0 says that it starts two workers";
  // A rank whose command has ended needs no workers any more.
  const records over{{0, in_state("done", 2)}, {1, in_state("running")}, {2, in_state("ended")}};
  EXPECT_EQ(missing_at_begin(with({worker_of_rank(1)}), second_of_three, 1, &over).ranks, ranks{});
}

TEST(UnendedRanks, AreThoseWithWorkersUntilTheyLeave) {
  unended_ranks looks;
  const auto look = [&](const service_status& now, time_point at) {
    return looks.look(
      &now, nullptr, second_of_three, [](int, const run_progress*) { return true; }, "ended", at);
  };
  const time_point t{1h};
  EXPECT_EQ(look(with({worker_of_rank(0), worker_of_rank(1)}), t), (ranks{0, 2}))
    << "of 2 nothing is known";
  const auto left = worker_of_rank(0, false, true), lost = worker_of_rank(2, false);
  EXPECT_EQ(look(with({left, lost}), t), ranks{2});
  EXPECT_EQ(look(with({left, lost}), t + 9s), ranks{2});
  EXPECT_EQ(look(with({left, worker_of_rank(2)}), t + 9500ms), ranks{2})
    << "it was being restarted";
  EXPECT_EQ(look(with({left, lost}), t + 10s), ranks{2}) << "it is lost since then";
  EXPECT_EQ(look(with({left, lost}), t + 20s), ranks{});
}

TEST(UnendedRanks, AreTakenFromRecordsEvenIfTheServiceDoesNotAnswer) {
  unended_ranks looks;
  const records some{{0, in_state("done")}, {2, in_state("running")}};
  const auto look = [&](const std::string& state) {
    return looks.look(
      nullptr, &some, second_of_three,
      [](int rank, const run_progress* x) { return rank != 2 || x != nullptr; }, state,
      time_point{1h});
  };
  EXPECT_EQ(look("done"), ranks{2});
  EXPECT_EQ(look("ended"), (ranks{0, 2}));
}

TEST(Rival, IsAWorkerOfTheSameRankAndAnotherProcess) {
  const auto of = [](std::vector<worker_status> all, bool remembers = false) {
    return rival_of(with(std::move(all)), 1, "me", 3s, remembers);
  };
  EXPECT_EQ(of({worker_of_rank(0, true, false, "other"), worker_of_rank(1)}).address, "");
  auto other = worker_of_rank(1, true, false, "other");
  other.since_heartbeat = 1s;
  EXPECT_TRUE(of({other}).lives);
  other.since_heartbeat = 4s; // the last heartbeat came before this process began
  EXPECT_FALSE(of({other}).lives);
  EXPECT_EQ(of({other}).address, other.address);
  // A worker that left is taken to be of this run, unless the dispatcher also lists workers that
  // left in an earlier run.
  const auto left = worker_of_rank(1, false, true, "other");
  EXPECT_TRUE(of({left}).lives);
  EXPECT_EQ(of({left}, true).address, "");
}

} // namespace
} // namespace headrace::detail::command
