#include "tests/actors/world/world.hpp"
#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// A service that saves a dataset, in virtual time, with random faults: the roles decide with the
/// classes of the product.
class save_world {
public:
  explicit save_world(uint64_t seed) : draw_(seed * 0x9e3779b97f4a7c15 + 3) {
    world::options about;
    about.seed = seed;
    about.policy = sharding_policy::off;
    about.data = {100, 1};
    about.net.longest_delay = draw_.one_in(3) ? 50ms : 2ms;
    about.slowest_write = draw_.one_in(3) ? 0ms : 10ms;
    faults_ = draw_.between(0, 8);
    world_.emplace(about);
    world_->folder.pieces = draw_.one_in(10) ? draw_.below(2) : draw_.between(1, 200);
  }

  void run() {
    auto& t = world_->time;
    const auto began = t.now();
    for (auto i = draw_.between(1, 4); i > 0; --i) add_worker();
    t.after(draw_.between(1ms, 1s), [this] { ask(); });
    for (auto i = faults_; i > 0; --i) t.after(draw_.between(10ms, 8s), [this] { befall(); });
    // Ends all faults: heals connections, continues stopped workers, and starts a dispatcher and a
    // worker if there are none.
    t.after(30s, [this] { make_good(); });
    const auto until = t.now() + 10min;
    while (t.now() < until && !over() && t.step()) {
    }
    took_ = t.now() - began;
    messages_ = world_->net.messages();
    t.run_until(t.now() + 60s);
  }

  /// The rule that is violated; empty: none.
  std::string fault() {
    const auto& folder = world_->folder;
    if (!folder.wrong.empty())
      return folder.wrong.front();
    const auto now = world_->dispatcher.saves();
    if (!over())
      return fmt::format("after {} s {} of {} pieces are there, and the save goes on (state {})",
                         took_ / 1s, folder.there.size(), folder.pieces,
                         now.empty() ? -1 : static_cast<int>(now.back().state));
    if (now.back().state == save_state::failed)
      return "it failed: " + to_string(now.back().failure);
    if (folder.there.size() != folder.pieces || folder.finishes == 0)
      return fmt::format("it is said to be saved, with {} of {} pieces", folder.there.size(),
                         folder.pieces);
    if (faults_ == 0 && (folder.writes != folder.pieces || folder.finishes != 1))
      return fmt::format("nothing befell it, and {} pieces were written {} times", folder.pieces,
                         folder.writes);
    // After the end of the save only heartbeats are sent, because no worker requests steps.
    const auto after = world_->net.messages() - messages_;
    if (after > 60 * 8 * (world_->workers.size() + 1))
      return fmt::format("{} messages in the minute after it was over", after);
    return {};
  }
  std::string story() const {
    std::string out;
    for (const auto& line : story_) out += line + "\n";
    return out;
  }
  uint64_t writes() const { return world_->folder.writes; }
  uint64_t pieces() const { return world_->folder.pieces; }

private:
  void say(const std::string& what) {
    story_.push_back(
      fmt::format("{:8.3f} s  {}", in_seconds(world_->time.now().time_since_epoch()) - 3600, what));
  }
  worker_process& add_worker() {
    return world_->add_worker({.per_step = draw_.one_in(4) ? 2s : 100ms});
  }
  /// Requests the save at intervals, as a client does, because the dispatcher may have lost its
  /// state.
  void ask() {
    auto& d = world_->dispatcher;
    if (d.alive() && !d.stopped()) {
      const auto now = d.saves();
      if (now.empty())
        d.save([this](const result<save_view>& how) {
          if (!how)
            say("the client reads " + to_string(how.status()));
        });
    }
    world_->time.after(1s, [this] { ask(); });
  }
  bool over() {
    const auto now = world_->dispatcher.saves();
    return !now.empty() && now.back().over();
  }

  void befall() {
    auto& w = *world_;
    auto& who = w.workers[draw_.below(w.workers.size())];
    auto& d = w.dispatcher;
    const auto lasts = draw_.one_in(2) ? draw_.between(1ms, 2s) : draw_.between(1s, 15s);
    switch (draw_.below(7)) {
    case 0:
      if (!who.alive())
        return;
      say(who.name() + " dies");
      who.kill();
      w.net.changed(who);
      return w.time.after(lasts, [this, &who] {
        if (!who.alive()) {
          say(who.name() + " is started again");
          who.start();
        }
      });
    case 1:
      if (!who.alive() || who.stopped())
        return;
      say(who.name() + " is stopped");
      who.stop();
      w.net.changed(who);
      return w.time.after(lasts, [this, &who] { go_on(who); });
    case 2:
      if (who.alive() && !who.stopped() && !who.leaving()) {
        say(who.name() + " leaves");
        who.leave();
      }
      return;
    case 3:
      say("another worker comes");
      add_worker();
      return;
    case 4: {
      if (!d.alive())
        return;
      const bool keeps = draw_.one_in(2);
      say(keeps ? "the dispatcher dies" : "the dispatcher dies with its state");
      d.kill();
      w.net.changed(d);
      return w.time.after(lasts, [this, &d, keeps] {
        if (d.alive())
          return;
        say("the dispatcher is started again");
        if (keeps)
          d.start_again();
        else
          d.start();
      });
    }
    case 5:
      if (!d.alive() || d.stopped())
        return;
      say("the dispatcher's actor crashes");
      return d.crash();
    default:
      say(who.name() + " is cut off");
      if (draw_.one_in(2))
        w.net.cut(plane::control, who, d);
      else if (draw_.one_in(2))
        w.net.swallow(plane::control, who, d);
      else
        w.net.swallow(plane::control, d, who);
      return w.time.after(lasts, [&w, &who, &d] { w.net.heal(plane::control, who, d); });
    }
  }
  void go_on(worker_process& who) {
    if (!who.alive() || !who.stopped())
      return;
    who.go_on();
    world_->net.changed(who);
  }
  void make_good() {
    auto& w = *world_;
    w.net.heal_all();
    if (!w.dispatcher.alive())
      w.dispatcher.start_again();
    for (auto& who : w.workers) go_on(who);
    if (std::ranges::none_of(w.workers, [](const auto& x) { return x.alive() && !x.leaving(); }))
      add_worker();
  }

  simulation draw_;
  std::optional<world> world_;
  uint64_t faults_ = 0;
  uint64_t messages_ = 0;
  duration took_{};
  std::vector<std::string> story_;
};

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const auto* given = std::getenv(variable);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

TEST(SaveSchedule, EverySaveEndsWholeWhateverBefallsIt) {
  const auto seed = test_seed();
  const auto worlds = number_from("HEADRACE_SAVE_WORLDS", 300);
  uint64_t twice = 0;
  for (uint64_t i = 0; i < worlds; ++i) {
    save_world w{seed + i};
    w.run();
    twice += w.writes() - std::min(w.writes(), w.pieces());
    ASSERT_EQ(w.fault(), "") << "HEADRACE_SAVE_WORLDS=1 HEADRACE_TEST_SEED=" << seed + i << "\n"
                             << w.story();
  }
  // In so many worlds the faults must cause some pieces to be written again.
  if (worlds >= 100) {
    EXPECT_GT(twice, 0);
  }
}

} // namespace
} // namespace headrace::detail::test
