#include "tests/actors/sharing/sharing_judge.hpp"
#include "tests/support/test_seed.hpp"

#include <gtest/gtest.h>

// Random graphs of all operators, shared by one to five workers that join, pause, leave and die.
// HEADRACE_SHARED_GRAPHS: the number of graphs (./run check sets a larger one).

namespace headrace::detail::test::sharing {
namespace {

size_t how_many() {
  const char* asked = std::getenv("HEADRACE_SHARED_GRAPHS");
  return asked ? std::strtoull(asked, nullptr, 10) : 200;
}

TEST(Sharing, OfRandomGraphsGivesWhatTheRulesSay) {
  const auto seed = test_seed();
  for (uint64_t i = 0; i < how_many() && !::testing::Test::HasFailure(); ++i) {
    dice die{seed + i};
    scratch_folder folder;
    const auto graph = random_shared_graph(die, static_cast<int>(die.below(5)), folder);
    SCOPED_TRACE(fmt::format("HEADRACE_TEST_SEED={} HEADRACE_SHARED_GRAPHS=1 is this one alone: {}",
                             seed + i, text_of(*graph.graph)));
    shared_run run{
      graph.graph, seed + i, {.workers = 1 + die.below(5), .accidents = die.below(4) != 0}};
    run.run();
    EXPECT_EQ(what_is_wrong(graph, run.tasks(), run.leased(), run.returned()), "");
  }
}

// -- the rules of sharing_judge.hpp report violations ------------------------------------

/// A run of three workers over a random graph. The task `which` gives more than three elements, the
/// first two of them different.
class TheJudge : public testing::Test {
protected:
  using fate = shared_run::task::fate;

  TheJudge() {
    for (uint64_t seed = 1; tasks.empty(); ++seed) {
      dice die{seed};
      graph = random_shared_graph(die, 1, folder);
      if (may_close(*graph.graph))
        continue;
      shared_run run{graph.graph, seed, {.workers = 3, .accidents = false}};
      run.run();
      const auto some =
        std::ranges::find_if(run.tasks(), [](const auto& x) { return x.second.rows.size() > 3; });
      if (some == run.tasks().end() || some->second.rows[0] == some->second.rows[1])
        continue;
      tasks = run.tasks();
      leased = run.leased();
      which = some->first;
    }
  }
  std::string verdict() { return what_is_wrong(graph, tasks, leased, returned); }

  scratch_folder folder;
  shared_graph graph;
  std::map<task_id, shared_run::task> tasks;
  shared_run::places leased, returned;
  task_id which;
};

TEST_F(TheJudge, FindsNothingWhereAllIsWell) { EXPECT_EQ(verdict(), ""); }

TEST_F(TheJudge, FindsALostElement) {
  tasks.at(which).rows.pop_back();
  EXPECT_NE(verdict(), "");
}

TEST_F(TheJudge, FindsAnElementThatComesTwice) {
  auto& rows = tasks.at(which).rows;
  rows.push_back(rows.back());
  EXPECT_NE(verdict(), "");
}

TEST_F(TheJudge, FindsElementsInAnotherOrder) {
  auto& rows = tasks.at(which).rows;
  std::swap(rows[0], rows[1]);
  EXPECT_NE(verdict(), "");
}

TEST_F(TheJudge, AllowsATaskThatDiedOnlyTheBeginningOfWhatItWouldHaveGiven) {
  tasks.at(which).how = fate::died;
  tasks.at(which).rows.pop_back();
  EXPECT_EQ(verdict(), "");
  tasks.at(which).rows.front() = "12345678";
  EXPECT_NE(verdict(), "");
}

TEST_F(TheJudge, FindsASplitThatNobodyRead) {
  for (auto& [where, splits] : leased)
    if (!splits.empty()) {
      const auto one = *splits.begin();
      splits.erase(one);
      EXPECT_NE(verdict(), "");
      returned[where].insert(one);
      EXPECT_NE(verdict(), "") << "nor may it be given back for nobody";
      return;
    }
  FAIL() << "nothing was leased";
}

TEST_F(TheJudge, FindsAnEndlessDatasetThatEnds) {
  const auto in = range(0, 3);
  auto source = std::make_shared<shared_source>(
    shared_source{0, 3, [](uint64_t split, uint64_t) {
                    return elements{random::number(static_cast<int64_t>(split))};
                  }});
  shared_graph endless{make_repeat(in).value(), {}, {source}};
  endless.open = [](given_splits& given) {
    given.starve();
    return lazy_rows{};
  };
  tasks.clear();
  tasks.try_emplace(task_id{1}, plan_splits(endless.graph)).first->second.how = fate::ended;
  EXPECT_NE(what_is_wrong(endless, tasks, {{{0, 0}, {0, 1, 2}}}, {}), "");
}

} // namespace
} // namespace headrace::detail::test::sharing
