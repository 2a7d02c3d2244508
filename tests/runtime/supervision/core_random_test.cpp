#include "tests/runtime/supervision/obeyed_core.hpp"

#include <random>

namespace headrace::detail::test {
namespace {

TEST_F(Supervision, KeepsItsPromisesOverRandomEvents) {
  auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  for (int round = 0; round < 300; ++round) {
    make(static_cast<supervision_strategy>(random() % 3), 4);
    alive.clear();
    timer.reset();
    cause = {};
    taken();
    for (int step = 0; step < 300; ++step) {
      auto id = std::string(1, static_cast<char>('a' + random() % 6));
      switch (random() % 6) {
      case 0:
        if (child_spec spec{id, static_cast<restart_policy>(random() % 3), 2s}; true) {
          if (random() % 2)
            spec.own_budget = restart_budget{.max_restarts = 2, .within = 10s};
          if (auto x = core->add(spec, now))
            carry_out(*x);
        }
        break;
      case 1: carry_out(core->remove(id, now)); break;
      case 2:
        if (alive.contains(id))
          exit(id, random() % 2 ? crash : normal);
        break;
      case 3:
        if (timer && random() % 2)
          wait();
        break;
      default: now += 1ms * static_cast<int>(random() % 2000);
      }
      // The core's list of living children must contain exactly the children that live.
      std::set<std::string> thought;
      for (auto& x : core->snapshot().children)
        if (x.state == child_state::running || x.state == child_state::stopping)
          thought.insert(x.id);
      ASSERT_EQ(thought, alive);
    }
    // A stop always ends, whatever the children do.
    carry_out(core->stop(now));
    for (int i = 0; i < 100 && !alive.empty(); ++i) wait();
    ASSERT_TRUE(alive.empty());
    auto said = taken();
    ASSERT_TRUE(said.ends_with("stopped ") || said.ends_with("gave up ")) << said;
  }
}

} // namespace
} // namespace headrace::detail::test
