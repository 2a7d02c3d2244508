#include "tests/actors/rounds/round_rules.hpp"
#include "tests/actors/world/world.hpp"
#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// Workers and trainers that read in rounds, with random faults.
class round_world {
public:
  round_world(uint64_t seed, sharding_policy policy) : draw_(seed * 0x9e3779b97f4a7c15 + 9) {
    world::options about;
    about.seed = seed;
    about.policy = policy;
    about.data = {uint64_t{1} << 30, 1};
    about.job_name = "rounds";
    about.num_consumers = static_cast<uint32_t>(draw_.between(1, 4));
    about.net.longest_delay = draw_.one_in(3) ? 50ms : 2ms;
    about.slowest_write = draw_.one_in(3) ? 0ms : 10ms;
    about.jobs.client_timeout = draw_.one_in(2) ? 8s : 20s;
    last_round_ = draw_.between(200, 1500);
    faults_ = draw_.between(1, 8);
    workers_ = draw_.between(1, 4);
    about.shards = is_static(policy) ? static_cast<uint32_t>(workers_) : 0;
    world_.emplace(about);
  }

  void run() {
    auto& w = *world_;
    const auto n = w.about.num_consumers;
    for (auto i = workers_; i > 0; --i) add_worker();
    for (uint32_t i = 0; i < n; ++i)
      w.time.after(draw_.between(1ms, 2s), [this, i] { come(i, false); });
    for (auto i = faults_; i > 0; --i) w.time.after(draw_.between(10ms, 10s), [this] { befall(); });
    const auto until = w.time.now() + 20min;
    while (w.time.now() < until && !over() && w.time.step()) {
    }
  }

  std::string fault() {
    std::vector<round_reading> all;
    auto& w = *world_;
    for (const auto& t : w.trainers) {
      const auto& h = t.history();
      const bool early = h.left && (h.rounds.empty() || h.rounds.back() + 1 < last_round_);
      all.push_back({t.name(), t.what().reads.index,
                     h.killed || early || (h.ended && !h.ended->ok()), h.rounds, h.handed_out,
                     h.handed_out_at});
      if (!t.over())
        return fmt::format("{} still waits after {} rounds", t.name(), h.rounds.size());
      if (h.ended && h.ended->ok())
        return t.name() + " came to an end of what has none";
      // Each worker is back within seconds or counts as gone, so it may cause no trainer to fail.
      if (h.ended && h.ended->message().find("data port") != std::string::npos)
        return fmt::format("{} failed and blames a worker: {}", t.name(), to_string(*h.ended));
      if (h.ended && !may_fail_)
        return fmt::format("{} failed: {}", t.name(), to_string(*h.ended));
    }
    if (auto broken = broken_rule(all, w.about.num_consumers, w.about.policy, w.about.shards);
        !broken.empty())
      return broken;
    if (auto wrong = miscounted_rounds(all); !wrong.empty())
      return wrong;
    return w.about.policy == sharding_policy::dynamic ? uncounted(all) : "";
  }
  /// Checks the number of missed rounds that the job counts (`miscounted`).
  std::string miscounted_rounds(const std::vector<round_reading>& all) {
    const auto n = world_->about.num_consumers;
    uint64_t counted = 0;
    for (const auto& t : world_->trainers) counted = std::max(counted, t.history().losses.elements);
    missed_ += missed_in(all, n).sure;
    if (!world_->dispatcher.alive())
      return {};
    return miscounted(missed_in(all, n), counted, dispatcher_died_);
  }
  /// Under DYNAMIC: checks that the job counts all splits that were lost with tasks. Returns an
  /// error text if it counts fewer, or an empty text.
  std::string uncounted(const std::vector<round_reading>& all) {
    auto& w = *world_;
    std::set<uint64_t> given;
    for (const auto& x : all)
      for (auto element : x.elements)
        given.insert(static_cast<uint64_t>(provenance_of(element).number));
    // Elements that were sent to a trainer that died or failed count as given: they were not lost
    // with a task.
    for (const auto& t : w.trainers)
      if (t.history().killed || (t.history().ended && !t.history().ended->ok()))
        for (auto element : w.sent_to[&t])
          given.insert(static_cast<uint64_t>(provenance_of(element).number));
    uint64_t counted = 0;
    for (const auto& t : w.trainers) counted = std::max(counted, t.history().losses.splits);
    const auto gone = [&](task_id id) {
      const auto at = w.lost_tasks.find(id);
      return at != w.lost_tasks.end() && at->second + 10s < w.time.now();
    };
    uint64_t missing = 0;
    for (const auto& [split, tasks] : w.leases)
      missing += !given.contains(split) && std::ranges::all_of(tasks, gone);
    lost_ += missing;
    // Elements that a trainer has missed because it left in order are counted as elements of missed
    // rounds (`miscounted_rounds`).
    auto leavers = all;
    for (size_t i = 0; i < leavers.size(); ++i) leavers[i].gone &= w.trainers[i].history().left;
    const auto missed = missed_in(leavers, w.about.num_consumers).sure;
    return missing <= counted + missed
             ? ""
             : fmt::format("{} splits went with tasks that are lost, and the job counts {}, and {} "
                           "in missed rounds",
                           missing, counted, missed);
  }
  uint64_t lost() const { return lost_; }
  uint64_t missed() const { return missed_; }
  uint64_t events() const { return world_->time.events(); }
  uint64_t rounds() const {
    uint64_t out = 0;
    for (const auto& t : world_->trainers) out += t.history().rounds.size();
    return out;
  }
  std::string story() const {
    std::string out;
    for (const auto& x : story_) out += "  " + x + "\n";
    for (const auto& t : world_->trainers) {
      const auto& h = t.history();
      out += fmt::format("  {} ({}): {} rounds from {}{}\n", t.name(), t.what().reads.index,
                         h.rounds.size(), h.rounds.empty() ? 0 : h.rounds.front(),
                         h.ended    ? ", " + to_string(*h.ended)
                         : h.killed ? ", killed"
                                    : "");
    }
    return out;
  }

private:
  void say(std::string what) {
    story_.push_back(
      fmt::format("{:8.3f} s  {}", in_seconds(world_->time.now().time_since_epoch()) - 3600, what));
  }
  bool over() const {
    const auto& all = world_->trainers;
    return came_ >= world_->about.num_consumers && coming_ == 0
           && std::ranges::all_of(all, [](const auto& t) { return t.over(); });
  }
  worker_process& add_worker() {
    return world_->add_worker({.per_block = draw_.between(100us, draw_.one_in(3) ? 20ms : 2ms),
                               .most_rows = draw_.between(1, 64),
                               .drain = 1s});
  }
  void come(uint32_t index, bool rejoins) {
    ++came_;
    trainer_process::options what{
      .reads = {.dataset_id = "d",
                .job_name = "rounds",
                .parameters = {.mode = world_->about.policy,
                               .num_consumers = world_->about.num_consumers},
                .index = index,
                .rejoins = rejoins,
                .consumer_timeout = 2min,
                .spec = element_spec{tensor_spec{dtype::int64, shape{}}},
                .worker_timeout = 60s,
                .stall_timeout = 5min,
                .stream_bytes = draw_.one_in(2) ? size_t{64} : size_t{512},
                .consumer_bytes = 4096},
      .pause = draw_.between(3ms, draw_.one_in(3) ? 60ms : 20ms),
      .burst = draw_.between(1, 4),
      .leaves_at = last_round_};
    auto& t = world_->add_trainer(what);
    say(fmt::format("{} {} as consumer {}", t.name(), rejoins ? "rejoins" : "comes", index));
  }
  void befall() {
    auto& w = *world_;
    const auto back = draw_.between(1ms, draw_.one_in(2) ? 2s : 12s);
    switch (draw_.below(10)) {
    case 0: {
      say(add_worker().name() + " joins");
      break;
    }
    case 1: {
      auto& who = w.workers[draw_.below(w.workers.size())];
      if (!who.alive())
        return;
      say(who.name() + " dies");
      who.kill();
      w.net.changed(who);
      w.time.after(back, [this, &who] {
        if (!who.alive()) {
          say(who.name() + " is started again");
          who.start();
        }
      });
      break;
    }
    case 2: {
      auto& who = w.workers[draw_.below(w.workers.size())];
      if (!who.alive() || who.leaving())
        return;
      say(who.name() + " leaves");
      who.leave();
      w.time.after(back, [this] { say(add_worker().name() + " comes in its place"); });
      break;
    }
    case 3:
    case 4: {
      if (w.trainers.empty())
        return;
      auto& who = w.trainers[draw_.below(w.trainers.size())];
      if (!who.alive() || who.over())
        return;
      say(who.name() + " dies");
      // The other consumers may reach their last round and leave before the next consumer with this
      // index has joined. That consumer then waits in vain.
      may_fail_ = true;
      who.kill();
      w.net.changed(who);
      ++coming_;
      w.time.after(back, [this, index = who.what().reads.index] {
        --coming_;
        come(index, true);
      });
      break;
    }
    case 5: {
      auto& worker = w.workers[draw_.below(w.workers.size())];
      if (w.trainers.empty())
        return;
      auto& trainer = w.trainers[draw_.below(w.trainers.size())];
      say(fmt::format("{} and {} are cut off from each other for {} ms", worker.name(),
                      trainer.name(), back / 1ms));
      w.net.cut(plane::data, trainer, worker);
      w.time.after(back,
                   [this, &worker, &trainer] { world_->net.heal(plane::data, trainer, worker); });
      break;
    }
    case 6: {
      if (!w.dispatcher.alive())
        return;
      say("the dispatcher dies");
      dispatcher_died_ = true;
      w.dispatcher.kill();
      w.net.changed(w.dispatcher);
      w.time.after(back, [this] {
        if (!world_->dispatcher.alive()) {
          say("the dispatcher is started again");
          world_->dispatcher.start_again();
        }
      });
      break;
    }
    case 7: {
      virtual_process* who = nullptr;
      if (draw_.one_in(2) && !w.trainers.empty())
        who = &w.trainers[draw_.below(w.trainers.size())];
      else
        who = &w.workers[draw_.below(w.workers.size())];
      if (!who->alive() || who->stopped())
        return;
      say(fmt::format("{} is stopped for {} ms", who->name(), back / 1ms));
      // A consumer that is stopped for nearly a lease or longer may be given up. Then the other
      // consumers wait for a successor, which does not join.
      may_fail_ |= back > 3s;
      who->stop();
      w.net.changed(*who);
      w.time.after(back, [this, who, life = who->life()] {
        if (who->life() == life && who->alive()) {
          who->go_on();
          world_->net.changed(*who);
        }
      });
      break;
    }
    case 8: {
      if (w.trainers.empty())
        return;
      auto& who = w.trainers[draw_.below(w.trainers.size())];
      if (!who.alive() || who.over() || who.stopped())
        return;
      say(who.name() + " leaves before its last round");
      may_fail_ = true; // for the same reason as when a trainer dies
      who.leave();
      ++coming_;
      w.time.after(back, [this, index = who.what().reads.index] {
        --coming_;
        come(index, true);
      });
      break;
    }
    default: {
      auto& who = w.workers[draw_.below(w.workers.size())];
      if (who.alive() && !who.stopped()) {
        say("a task of " + who.name() + " crashes");
        who.crash_a_task();
      }
    }
    }
  }

  simulation draw_;
  std::optional<world> world_;
  uint64_t last_round_ = 0;
  uint64_t faults_ = 0;
  uint64_t workers_ = 0;
  uint64_t lost_ = 0;
  uint64_t missed_ = 0;
  /// The dispatcher was killed at least once. For a consumer that reports nothing to the next
  /// dispatcher, the job then counts the largest number of rounds that it may have missed.
  bool dispatcher_died_ = false;
  uint64_t came_ = 0;
  uint64_t coming_ = 0;
  bool may_fail_ = false;
  std::vector<std::string> story_;
};

/// If the environment variable HEADRACE_ROUND_SEED is set, only the world with this seed is run,
/// and its history is printed. HEADRACE_ROUND_WORLDS sets the number of worlds.
void run_worlds(sharding_policy policy, const char* name) {
  const auto* one = std::getenv("HEADRACE_ROUND_SEED");
  const auto* most = std::getenv("HEADRACE_ROUND_WORLDS");
  const auto base = one != nullptr                                 ? std::strtoull(one, nullptr, 0)
                    : std::getenv("HEADRACE_TEST_SEED") != nullptr ? test_seed()
                                                                   : 1;
  const auto worlds = one != nullptr ? 1 : most != nullptr ? std::strtoull(most, nullptr, 0) : 40;
  uint64_t events = 0, rounds = 0, wrong = 0, lost = 0, missed = 0;
  for (uint64_t seed = base; seed < base + worlds; ++seed) {
    round_world x{seed, policy};
    x.run();
    events += x.events();
    rounds += x.rounds();
    if (const auto what = x.fault(); !what.empty() && ++wrong < 4)
      ADD_FAILURE() << what << "\n"
                    << x.story() << "again: HEADRACE_ROUND_SEED=" << seed
                    << " build/tests/actors_test '--gtest_filter=RoundSchedule." << name << "'";
    lost += x.lost();
    missed += x.missed();
    if (one != nullptr)
      std::printf("%s", x.story().c_str());
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(rounds, worlds * 50) << "the worlds were too quiet to show anything";
  fmt::print("{} events, {} elements in {} worlds, {} splits lost, {} rounds missed\n", events,
             rounds, worlds, lost, missed);
}

TEST(RoundSchedule, GivesAllConsumersOneGroupInEachRound) {
  run_worlds(sharding_policy::off, "GivesAllConsumersOneGroupInEachRound");
}
TEST(RoundSchedule, GivesElementsOfOneShardInEachRound) {
  run_worlds(sharding_policy::data, "GivesElementsOfOneShardInEachRound");
}
TEST(RoundSchedule, GivesEachSplitOnceAndCountsWhatIsLost) {
  run_worlds(sharding_policy::dynamic, "GivesEachSplitOnceAndCountsWhatIsLost");
}

} // namespace
} // namespace headrace::detail::test
