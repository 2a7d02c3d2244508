#include "tests/actors/world/world.hpp"
#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// The elements that one trainer was given: in a world of coordinated reads, one element for each
/// round.
struct round_reading {
  std::string name;
  uint32_t index = 0;
  bool gone = false; ///< the trainer died, ended with an error, or left before its last round
  std::vector<uint64_t> rounds;
  std::vector<int64_t> elements;
  std::vector<int64_t> times = {}; ///< when each element was given, in nanoseconds

  /// The number of its last rounds that the trainer may not have reported to the job.
  uint64_t unreported() const {
    // A heartbeat is sent each second.
    constexpr auto longest = std::chrono::nanoseconds{2s}.count();
    return static_cast<uint64_t>(
      std::ranges::count_if(times, [&](auto at) { return at + longest >= times.back(); }));
  }
};

/// The task that made an element, and a number of the element. Under OFF this is the element's
/// number in the output of the task; under a static policy, its number in the whole dataset; under
/// DYNAMIC, the number of the split from which it descends.
struct provenance {
  int64_t task = 0;
  int64_t number = 0;
};
constexpr auto second = [](const auto& x) { return x.second; };
provenance provenance_of(int64_t element) { return {element >> 32, element & 0xffffffff}; }

/// A text about the first rule of coordinated reads that the readings violate; empty if there is no
/// violation. The readings are in the order in which the trainers joined. The successors of a
/// trainer are the later trainers with the same index: for a trainer that is gone, only the rounds
/// before those of its successors count. `shards`: the number of shards under a static policy.
std::string broken_rule(const std::vector<round_reading>& all, uint32_t consumers,
                        sharding_policy policy = sharding_policy::off, int64_t shards = 1) {
  struct shared_round {
    int64_t group = -1; ///< the task and, except under DYNAMIC, the group of its output
    std::map<uint32_t, int64_t> numbers;
    std::map<uint32_t, std::string> by;
  };
  const bool leased = policy == sharding_policy::dynamic;
  std::map<uint64_t, shared_round> rounds;
  std::map<int64_t, std::string> given;
  for (const auto& x : all) {
    auto counts = UINT64_MAX;
    if (x.gone)
      for (const auto* y = &x + 1; y != all.data() + all.size(); ++y)
        if (y->index == x.index && !y->rounds.empty())
          counts = std::min(counts, y->rounds.front());
    for (size_t i = 0; i < x.rounds.size(); ++i) {
      const auto round = x.rounds[i];
      if (i != 0 && round != x.rounds[i - 1] + 1)
        return fmt::format("{} was given round {} after {}", x.name, round, x.rounds[i - 1]);
      if (round >= counts)
        break;
      // The last round of a trainer that is gone and has no successor is not compared: the other
      // consumers need not have taken part in it.
      const bool last = x.gone && counts == UINT64_MAX && i + 1 == x.rounds.size();
      const auto n = static_cast<int64_t>(consumers);
      const auto element = x.elements[i];
      const auto [task, x_number] = provenance_of(element);
      const auto number = is_static(policy) ? x_number / shards : x_number;
      if (!leased && number % n != x.index)
        return fmt::format("{}, consumer {}, was given element {} of a task in round {}", x.name,
                           x.index, number, round);
      if (last)
        continue;
      // Under DYNAMIC no two tasks have the same split.
      if (const auto [at, fresh] = given.try_emplace(leased ? number : element, x.name); !fresh)
        return fmt::format("element {} was given to {} and to {}", element, at->second, x.name);
      auto& r = rounds[round];
      const auto group = leased ? task : (task << 32) + number / n;
      if (r.group >= 0 && r.group != group)
        return fmt::format("in round {} {} was given an element of another group than {}", round,
                           x.name, r.by.begin()->second);
      r.group = group;
      if (const auto [at, fresh] = r.by.try_emplace(x.index, x.name); !fresh)
        return fmt::format("round {} of consumer {} was given to {} and to {}", round, x.index,
                           at->second, x.name);
      r.numbers[x.index] = number;
    }
  }
  // In a round the elements must rise with the consumer's index. One round in twenty is excepted,
  // because splits that a worker gave back are leased again after later splits.
  size_t falling = 0;
  for (const auto& [round, r] : rounds) falling += !std::ranges::is_sorted(r.numbers, {}, second);
  if (falling > rounds.size() / 20)
    return fmt::format("in {} of {} rounds a consumer has an earlier element than one before it",
                       falling, rounds.size());
  return {};
}

/// How many rounds consumers that are gone have missed.
struct missed_rounds {
  /// The rounds between the last one of a consumer that is gone and the first one of the next
  /// consumer with its index.
  uint64_t sure = 0;
  /// The last rounds of consumers that are gone, which they may not have reported, and those that
  /// went on after consumers in whose place none has come: an epoch may have begun after these.
  uint64_t perhaps = 0;
};
missed_rounds missed_in(const std::vector<round_reading>& all, uint32_t consumers) {
  missed_rounds out;
  uint64_t furthest = 0;
  std::map<uint32_t, uint64_t> next; // by index of a gone consumer: the round after its last one
  for (uint32_t i = 0; i < consumers; ++i) next[i] = 0;
  for (const auto& x : all) {
    if (x.rounds.empty())
      continue;
    if (const auto at = next.find(x.index); at != next.end() && at->second < x.rounds.front())
      out.sure += x.rounds.front() - at->second;
    next.erase(x.index);
    furthest = std::max(furthest, x.rounds.back() + 1);
    if (x.gone) {
      next[x.index] = x.rounds.back() + 1;
      out.perhaps += x.unreported();
    }
  }
  for (const auto& [index, round] : next) out.perhaps += furthest - std::min(round, furthest);
  return out;
}

/// Returns an error text if the job counts fewer missed rounds than there are, or, unless its
/// dispatcher died, more than there may be; else an empty text.
std::string miscounted(const missed_rounds& missed, uint64_t counted, bool dispatcher_died) {
  const bool too_many = !dispatcher_died && counted > missed.sure + missed.perhaps;
  if (counted >= missed.sure && !too_many)
    return {};
  return fmt::format("{} rounds, and perhaps {} more, went on without consumers that are gone, and "
                     "the job counts {}",
                     missed.sure, missed.perhaps, counted);
}

TEST(RoundRules, BoundTheNumberOfMissedRounds) {
  constexpr auto second_long = std::chrono::nanoseconds{1s}.count();
  const std::vector<round_reading> all{
    {"a", 0, false, {0, 1, 2, 3, 4, 5, 6, 7}, {}, {}},
    {"b", 1, true, {0, 1, 2, 3}, {}, {0, 1, 5 * second_long, 6 * second_long}},
    {"c", 1, false, {6, 7}, {}, {}}};
  const auto missed = missed_in(all, 2);
  EXPECT_EQ(missed.sure, 2u);
  EXPECT_EQ(missed.perhaps, 2u);
  EXPECT_NE(miscounted(missed, 1, false), "");
  EXPECT_EQ(miscounted(missed, 2, false), "");
  EXPECT_EQ(miscounted(missed, 4, false), "");
  EXPECT_NE(miscounted(missed, 5, false), "");
  EXPECT_EQ(miscounted(missed, 5, true), "");
}

TEST(RoundRules, AreBrokenByWhatTheyForbid) {
  const std::vector<round_reading> good{{"a", 0, false, {0, 1, 2}, {0, 4, 2}},
                                        {"b", 1, false, {0, 1, 2}, {1, 5, 3}}};
  EXPECT_EQ(broken_rule(good, 2), "");
  const auto with = [&](auto change) {
    auto out = good;
    change(out);
    return broken_rule(out, 2);
  };
  EXPECT_NE(with([](auto& x) { x[1].elements[1] = 7; }), "");
  EXPECT_NE(with([](auto& x) { x[1].elements[1] = (int64_t{1} << 32) + 5; }), "");
  EXPECT_NE(with([](auto& x) { x[1].rounds[2] = 3; }), "");
  EXPECT_NE(with([](auto& x) { std::swap(x[0].elements, x[1].elements); }), "");
  EXPECT_NE(with([](auto& x) {
              x[0].elements[2] = x[0].elements[0];
              x[1].elements[2] = x[1].elements[0];
            }),
            "");
  EXPECT_NE(with([](auto& x) { x.push_back(x[1]); }), "");
}

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
      // Whatever happens, each worker is back within seconds, or the job knows that it is gone.
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
    // What a trainer has missed by leaving in order is counted as elements of missed rounds
    // (`miscounted_rounds`).
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
      may_fail_ = true; // as where it dies
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
  /// The dispatcher was killed at least once. Of a consumer that reports nothing to the next one,
  /// that one counts as many rounds as it may have missed at most.
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
