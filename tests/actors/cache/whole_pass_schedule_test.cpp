#include "tests/actors/world/world.hpp"
#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// The elements of a pass, shared by several workers, that one trainer's iterators were given.
struct pass_reading {
  std::string trainer;
  std::vector<int64_t> elements; ///< the elements of all its iterators, one after the other
  bool complete = false;         ///< the last iterator ended without an error
  bool warned = false;           ///< one of its iterators warned that elements may be missing
};

/// A text about the first rule that the readings of a pass with expected trainers violate; empty if
/// they violate none. `excused`: a task was lost, or an iterator was lost, left early or was cut
/// off, so that a trainer may lack elements; a trainer that lacks some must have been warned.
std::string broken_rule(const std::vector<pass_reading>& all, uint64_t elements, bool excused) {
  for (const auto& x : all) {
    std::set<int64_t> once;
    for (auto e : x.elements) {
      if (e < 0 || static_cast<uint64_t>(e) >= elements)
        return fmt::format("{} was given {}, which the dataset has not", x.trainer, e);
      if (!once.insert(e).second)
        return fmt::format("{} was given {} twice", x.trainer, e);
    }
    if (!x.complete || once.size() == elements)
      continue;
    if (!excused)
      return fmt::format("{} was given {} of {} elements", x.trainer, once.size(), elements);
    if (!x.warned)
      return fmt::format("{} lacks {} elements, and was not warned", x.trainer,
                         elements - once.size());
  }
  return {};
}

TEST(WholePassRules, AreBrokenByWhatTheyForbid) {
  const std::vector<pass_reading> good{{"a", {0, 1, 2}, true, false}, {"b", {2, 0, 1}, true, true}};
  EXPECT_EQ(broken_rule(good, 3, false), "");
  const auto with = [&](auto change, bool excused) {
    auto out = good;
    change(out);
    return broken_rule(out, 3, excused);
  };
  EXPECT_NE(with([](auto& x) { x[1].elements[1] = 2; }, true), "");
  EXPECT_NE(with([](auto& x) { x[1].elements[1] = 7; }, true), "");
  EXPECT_NE(with([](auto& x) { x[0].elements.pop_back(); }, true), "");
  EXPECT_EQ(with([](auto& x) { x[1].elements.pop_back(); }, true), "");
  EXPECT_NE(with([](auto& x) { x[1].elements.pop_back(); }, false), "");
}

/// Under DYNAMIC, workers share the splits of one finite pass, and each trainer must be given all
/// elements of the pass from the windows of the tasks.
class whole_pass_world {
public:
  /// `gentle`: the only events are workers that join, and workers that leave in order.
  whole_pass_world(uint64_t seed, bool gentle)
    : draw_(seed * 0x9e3779b97f4a7c15 + 11), gentle_(gentle) {
    world::options about;
    about.seed = seed;
    about.policy = sharding_policy::dynamic;
    about.data = {draw_.between(20, 600), draw_.between(1, 4)};
    about.job_name = "pass";
    about.cached = true;
    about.total_known = draw_.one_in(2);
    about.net.longest_delay = draw_.one_in(3) ? 50ms : 2ms;
    about.slowest_write = draw_.one_in(3) ? 0ms : 10ms;
    trainers_ = draw_.between(1, 4);
    faults_ = draw_.between(1, 6);
    world_.emplace(about);
  }

  void run() {
    auto& w = *world_;
    for (auto i = draw_.between(1, 4); i > 0; --i) add_worker();
    for (uint64_t i = 0; i < trainers_; ++i)
      w.time.after(draw_.between(1ms, 2s), [this, i] { come(i); });
    for (auto i = faults_; i > 0; --i) w.time.after(draw_.between(10ms, 8s), [this] { befall(); });
    const auto until = w.time.now() + 20min;
    while (w.time.now() < until && !over() && w.time.step()) {
    }
  }

  std::string fault() {
    auto& w = *world_;
    std::map<std::string, pass_reading> all;
    for (const auto& t : w.trainers) {
      const auto& h = t.history();
      if (!t.over())
        return fmt::format("{} still waits after {} elements", t.name(), h.handed_out.size());
      if (h.ended && !h.ended->ok() && !may_fail_)
        return fmt::format("{} failed: {}", t.name(), to_string(*h.ended));
      auto& x = all[t.what().reads.trainer];
      x.trainer = t.what().reads.trainer;
      x.elements.insert(x.elements.end(), h.handed_out.begin(), h.handed_out.end());
      x.complete = h.ended && h.ended->ok();
      x.warned |= !h.remark.empty() || !h.news.empty();
      complete_ += x.complete;
    }
    std::vector<pass_reading> readings;
    for (auto& [name, x] : all) readings.push_back(std::move(x));
    return broken_rule(readings, w.data.elements(), !w.lost_tasks.empty() || excused_);
  }
  uint64_t complete() const { return complete_; }
  uint64_t events() const { return world_->time.events(); }
  std::string story() const {
    std::string out;
    for (const auto& x : story_) out += "  " + x + "\n";
    for (const auto& t : world_->trainers) {
      const auto& h = t.history();
      out += fmt::format(
        "  {} (of {}): {} elements{}{}\n", t.name(), t.what().reads.trainer, h.handed_out.size(),
        h.ended    ? ", " + to_string(*h.ended)
        : h.killed ? ", killed"
                   : "",
        (h.remark.empty() ? "" : "; " + h.remark) + (h.news.empty() ? "" : "; " + h.news));
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
    return came_ >= trainers_ && coming_ == 0
           && std::ranges::all_of(all, [](const auto& t) { return t.over(); });
  }
  worker_process& add_worker() {
    return world_->add_worker(
      {.per_block = draw_.between(100us, draw_.one_in(3) ? 20ms : 2ms),
       .most_rows = draw_.between(1, 64),
       .drain = gentle_ ? duration{1h} : duration{1s},
       .cache_bytes = draw_.one_in(2) ? size_t{4} << 10 : size_t{64} << 10});
  }
  /// Waits until the iterator `t` of the trainer `index` has left, and then starts the trainer's
  /// next iterator. Does nothing if `t` ended in another way.
  void return_later(uint64_t index, trainer_process& t) {
    ++coming_;
    world_->time.after(draw_.between(10ms, 12s), [this, index, &t] {
      --coming_;
      if (t.over() && !t.history().left)
        return;
      if (!t.history().left)
        return return_later(index, t);
      // Tasks that end before the next iterator is started do not wait for the trainer, and the
      // pass may be over when that iterator is started.
      excused_ = true;
      may_fail_ = true;
      say(t.name() + " has left");
      come(index, true);
    });
  }
  void come(uint64_t index, bool again = false) {
    came_ += again ? 0 : 1;
    trainer_process::options what{
      .reads = {.dataset_id = "d",
                .job_name = "pass",
                .parameters = {.mode = sharding_policy::dynamic,
                               .cross_trainer_cache =
                                 cache_terms{.wait = 10min,
                                             .expected_trainers =
                                               static_cast<uint32_t>(trainers_)}},
                .trainer = fmt::format("t{}", index),
                .spec = element_spec{tensor_spec{dtype::int64, shape{}}},
                .worker_timeout = 60s,
                .stall_timeout = 5min,
                .stream_bytes = draw_.one_in(2) ? size_t{64} : size_t{512},
                .consumer_bytes = 4096},
      .pause = draw_.between(1ms, draw_.one_in(3) ? 40ms : 8ms),
      .burst = draw_.between(1, 4)};
    const bool leaves = !gentle_ && !again && draw_.one_in(4);
    if (leaves)
      what.leaves_after = draw_.below(world_->data.elements());
    auto& t = world_->add_trainer(what);
    say(fmt::format("{} comes, an iterator of {}", t.name(), what.reads.trainer));
    if (leaves)
      return_later(index, t);
  }
  void befall() {
    auto& w = *world_;
    const auto back = draw_.between(1ms, draw_.one_in(2) ? 2s : 12s);
    auto& worker = w.workers[draw_.below(w.workers.size())];
    switch (gentle_ ? draw_.below(2) : draw_.below(8)) {
    case 0: {
      say(add_worker().name() + " joins");
      break;
    }
    case 1: {
      if (!worker.alive() || worker.leaving())
        return;
      say(worker.name() + " leaves");
      worker.leave();
      w.time.after(back, [this] { say(add_worker().name() + " comes in its place"); });
      break;
    }
    case 2: {
      if (!worker.alive())
        return;
      say(worker.name() + " dies");
      worker.kill();
      w.net.changed(worker);
      w.time.after(back, [this, &worker] {
        if (!worker.alive()) {
          say(worker.name() + " is started again");
          worker.start();
        }
      });
      break;
    }
    case 3: {
      if (w.trainers.empty())
        return;
      auto& who = w.trainers[draw_.below(w.trainers.size())];
      if (!who.alive() || who.over())
        return;
      say(who.name() + " dies");
      excused_ = true;
      // The pass may be over when the trainer's next iterator is started, which may then fail.
      may_fail_ = true;
      who.kill();
      w.net.changed(who);
      ++coming_;
      const auto index = static_cast<uint64_t>(who.what().reads.trainer[1] - '0');
      w.time.after(back, [this, index] {
        --coming_;
        come(index, true);
      });
      break;
    }
    case 4: {
      if (w.trainers.empty())
        return;
      auto& trainer = w.trainers[draw_.below(w.trainers.size())];
      say(fmt::format("{} and {} are cut off from each other for {} ms", worker.name(),
                      trainer.name(), back / 1ms));
      // When the lease of a trainer that is cut off has expired, tasks no longer keep blocks for
      // it: a trainer that is cut off for so long may lack elements.
      excused_ |= back > 4s;
      w.net.cut(plane::data, trainer, worker);
      w.time.after(back,
                   [this, &worker, &trainer] { world_->net.heal(plane::data, trainer, worker); });
      break;
    }
    case 5: {
      if (!w.dispatcher.alive())
        return;
      say("the dispatcher dies");
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
    case 6: {
      if (!worker.alive() || worker.stopped())
        return;
      say(fmt::format("{} is stopped for {} ms", worker.name(), back / 1ms));
      worker.stop();
      w.net.changed(worker);
      w.time.after(back, [this, who = &worker, life = worker.life()] {
        if (who->life() == life && who->alive()) {
          who->go_on();
          world_->net.changed(*who);
        }
      });
      break;
    }
    default:
      if (worker.alive() && !worker.stopped()) {
        say("a task of " + worker.name() + " crashes");
        worker.crash_a_task();
      }
    }
  }

  simulation draw_;
  bool gentle_;
  std::optional<world> world_;
  uint64_t trainers_ = 1;
  uint64_t faults_ = 0;
  uint64_t came_ = 0;
  uint64_t coming_ = 0;
  uint64_t complete_ = 0;
  bool may_fail_ = false;
  /// An iterator left early or was lost, or was cut off from a worker for nearly a lease or longer.
  bool excused_ = false;
  std::vector<std::string> story_;
};

/// If the environment variable HEADRACE_PASS_SEED is set, only the world with this seed is run, and
/// its history is printed. HEADRACE_PASS_WORLDS sets the number of worlds.
void run_worlds(bool gentle, const char* name) {
  const auto* one = std::getenv("HEADRACE_PASS_SEED");
  const auto* most = std::getenv("HEADRACE_PASS_WORLDS");
  const auto base = one != nullptr                                 ? std::strtoull(one, nullptr, 0)
                    : std::getenv("HEADRACE_TEST_SEED") != nullptr ? test_seed()
                                                                   : 1;
  const auto worlds = one != nullptr ? 1 : most != nullptr ? std::strtoull(most, nullptr, 0) : 60;
  uint64_t events = 0, complete = 0, wrong = 0;
  for (uint64_t seed = base; seed < base + worlds; ++seed) {
    whole_pass_world x{seed, gentle};
    x.run();
    const auto what = x.fault();
    events += x.events();
    complete += x.complete();
    if (!what.empty() && ++wrong < 4)
      ADD_FAILURE() << what << "\n"
                    << x.story() << "again: HEADRACE_PASS_SEED=" << seed
                    << " build/tests/actors_test '--gtest_filter=WholePassSchedule." << name << "'";
    if (one != nullptr)
      fmt::print("{}", x.story());
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(complete, worlds) << "the worlds were too quiet to show anything";
  fmt::print("{} events, {} whole readings in {} worlds\n", events, complete, worlds);
}

TEST(WholePassSchedule, GivesEachTrainerAllSplitsOnceWhereWorkersComeAndLeave) {
  run_worlds(true, "GivesEachTrainerAllSplitsOnceWhereWorkersComeAndLeave");
}
TEST(WholePassSchedule, GivesNoSplitTwiceAndWarnsOfWhatIsLost) {
  run_worlds(false, "GivesNoSplitTwiceAndWarnsOfWhatIsLost");
}

} // namespace
} // namespace headrace::detail::test
