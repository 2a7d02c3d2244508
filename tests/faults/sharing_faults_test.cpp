#include "tests/cluster/processes.hpp"
#include "tests/support/reading_record.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/trainer_orders.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// The elements that one trainer process was handed, and how its reading ended.
struct told_trainer {
  std::string name;
  std::string member; ///< the trainer's id in the cache, or its index in the rounds
  bool killed = false;
  std::vector<int64_t> elements;
  std::optional<status> ended;
};

/// The violation of the rule of the cache; empty: none. The rule: the elements that a trainer is
/// given from one life of the worker rise. Elements that a worker had sent before it died may come
/// between the elements of its next life.
std::string broken_rule_of_cache(const std::vector<told_trainer>& all, size_t worker_lives) {
  for (const auto& x : all) {
    // The trainer's elements are divided into as few rising sequences as possible; this set has the
    // last element of each sequence.
    std::multiset<int64_t> rising;
    for (auto e : x.elements) {
      const auto at = rising.lower_bound(e);
      if (at != rising.begin())
        rising.erase(std::prev(at));
      rising.insert(e);
      if (rising.size() > worker_lives)
        return fmt::format("{} is given {} again or too late; the worker had {} lives", x.name, e,
                           worker_lives);
    }
  }
  return {};
}

/// The violation of the rule of rounds; empty: none. The rule: each trainer is given the elements
/// of its index, and in each round all trainers are given elements of one group. A trainer that
/// takes the place of another one continues with some later round.
std::string broken_rule_of_rounds(const std::vector<told_trainer>& all, uint32_t n) {
  std::vector<std::vector<int64_t>> groups;
  for (const auto& x : all) {
    const auto index = static_cast<int64_t>(std::stoul(x.member));
    auto& mine = groups.emplace_back();
    for (auto e : x.elements) {
      if (e % n != index)
        return fmt::format("{} is given element {}", x.name, e);
      mine.push_back(e / n);
    }
  }
  // A trainer that was not killed has all rounds. The other trainers are compared with the first
  // trainer that was not killed.
  const auto whole = std::ranges::find_if(all, [](const auto& x) { return !x.killed; });
  const auto& rounds = groups[static_cast<size_t>(whole - all.begin())];
  for (size_t i = 0; i < all.size(); ++i) {
    auto mine = groups[i];
    // The last round of a trainer that was killed may be missing in the other trainers.
    if (all[i].killed && !mine.empty())
      mine.pop_back();
    const bool first =
      std::ranges::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
                           [&](const auto& x) { return x.member == all[i].member; });
    // The trainer `whole` may end before the others, which still hand out the elements that they
    // have received by then.
    const auto from = [&](size_t round) {
      const auto n = std::min(mine.size(), rounds.size() - round);
      return std::equal(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(n),
                        rounds.begin() + static_cast<std::ptrdiff_t>(round));
    };
    size_t round = 0;
    while (!first && round < rounds.size() && !from(round)) ++round;
    if (!mine.empty() && (round == rounds.size() || !from(round)))
      return fmt::format("{} is given rounds that {} is not", all[i].name, whole->name);
  }
  return {};
}

TEST(SharingRules, AreBrokenByWhatTheyForbid) {
  const std::vector<told_trainer> cache{{"a", "a", false, {0, 1, 5, 6}, status{}}};
  EXPECT_EQ(broken_rule_of_cache(cache, 1), "");
  EXPECT_NE(broken_rule_of_cache({{"a", "a", false, {0, 1, 1}, status{}}}, 1), "");
  EXPECT_NE(broken_rule_of_cache({{"a", "a", false, {0, 2, 1}, status{}}}, 1), "");
  EXPECT_EQ(broken_rule_of_cache({{"a", "a", false, {0, 2, 1}, status{}}}, 2), "");
  std::vector<told_trainer> rounds{{"a", "0", false, {0, 2, 4, 0}, status{}},
                                   {"b", "1", true, {1, 3}, {}},
                                   {"c", "1", false, {5, 1}, status{}}};
  EXPECT_EQ(broken_rule_of_rounds(rounds, 2), "");
  rounds[2].elements = {5, 3};
  EXPECT_NE(broken_rule_of_rounds(rounds, 2), "");
  rounds[2].elements = {4, 1};
  EXPECT_NE(broken_rule_of_rounds(rounds, 2), "");
}

/// Trainers in processes of their own that share the output of pipelines (by a cross-trainer cache
/// or in rounds), with faults of the trainers and of the service.
class shared_service {
public:
  shared_service(uint64_t seed, bool rounds, std::string folder)
    : random_(seed), rounds_(rounds), folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    begin_dispatcher();
    for (size_t i = 0; i < (rounds_ ? 2 : 1); ++i) {
      workers_.emplace_back();
      start(workers_.back());
    }
    await_workers(dispatcher_->address, workers_.size());
    members_ = 2 + below(2);
    for (uint64_t i = 0; i < members_; ++i) add_trainer(std::to_string(i), false);
  }

  std::string run() {
    for (auto& t : trainers_) t.process->read_until("begun", patience).value();
    for (auto i = 1 + below(4); i > 0; --i) befall();
    for (auto& t : trainers_) {
      if (t.told.killed || t.rejoined)
        continue;
      if (!t.process->wait(patience)) {
        t.process->kill(SIGABRT);
        return t.told.name + " hangs" + where(t);
      }
    }
    // When the other trainers leave, a trainer that rejoined has read fewer rounds than they have.
    // It would wait in vain for further rounds, and is killed.
    for (auto& t : trainers_)
      if (t.rejoined && !t.told.killed)
        end(t);
    std::vector<told_trainer> all;
    for (auto& t : trainers_) {
      const auto given = t.record->handed_out();
      t.told.elements.assign(given.begin(), given.end());
      t.told.ended = t.record->ended();
      if (!t.told.killed && (!t.told.ended || !t.told.ended->ok()))
        return fmt::format("{} ends with {}{}", t.told.name,
                           t.told.ended ? to_string(*t.told.ended) : "nothing", where(t));
      all.push_back(t.told);
    }
    if (rounds_)
      return broken_rule_of_rounds(all, static_cast<uint32_t>(members_));
    if (auto wrong = broken_rule_of_cache(all, worker_lives_); !wrong.empty())
      return wrong;
    return judge_windows(all);
  }
  std::string story() const {
    std::string out;
    for (const auto& line : story_) out += "  " + line + "\n";
    return out;
  }

private:
  struct worker {
    std::unique_ptr<server_process> process;
    std::string port = "0";
  };
  struct trainer {
    told_trainer told;
    std::unique_ptr<reading_record> record;
    std::unique_ptr<child_process> process;
    bool rejoined = false; ///< it took the place of a trainer of rounds that was killed
  };
  static constexpr uint64_t budget = uint64_t{1} << 20;
  uint64_t below(uint64_t n) { return random_() % n; }
  void say(std::string what) { story_.push_back(std::move(what)); }
  static std::string where(const trainer& t) {
    return fmt::format(" after {} elements; log of {}", t.record->count(), t.told.name);
  }

  void begin_dispatcher() {
    dispatcher_ = std::make_unique<server_process>(start_dispatcher(
      {"--lease", "1s", "--heartbeat", "200ms", "--work-dir", folder_ + "/state"}));
    front_.forward_to(dispatcher_->port());
  }
  void start(worker& w) {
    w.process = std::make_unique<server_process>(
      start_worker(fmt::format("127.0.0.1:{}", front_.port()),
                   {"--data-port", w.port, "--lease", "1s", "--cross-trainer-cache-size", "1M"}));
    w.port = std::to_string(w.process->port());
  }
  void add_trainer(const std::string& member, bool rejoins) {
    auto& fresh = trainers_.emplace_back();
    fresh.told.name = fmt::format("trainer {} ({})", trainers_.size(), member);
    fresh.told.member = member;
    const auto file = fmt::format("{}/trainer{}", folder_, trainers_.size());
    const auto most = rounds_ ? 4'000 : 300'000;
    fresh.record = std::make_unique<reading_record>(
      reading_record::create(file, static_cast<uint64_t>(most) + 10'000));
    trainer_orders orders{.dispatcher = fmt::format("127.0.0.1:{}", front_.port()),
                          .record = file,
                          .graph = "counter",
                          .mode = rounds_ ? "rounds" : "cache",
                          .job = "shared"};
    orders.worker_timeout_ms = patience / 1ms;
    orders.pause_us = rounds_ ? 500 : static_cast<int64_t>(200 + below(1000));
    orders.burst = rounds_ ? 1 : 200;
    orders.begun_after = rejoins ? 0 : 100;
    orders.member = member;
    orders.members = static_cast<uint32_t>(members_);
    orders.rejoins = rejoins;
    orders.most = most;
    fresh.rejoined = rejoins;
    auto argv = orders.arguments();
    argv.insert(argv.begin(), trainer_program());
    fresh.process = std::make_unique<child_process>(child_process::start({.argv = argv}).value());
  }
  static void end(trainer& t) {
    t.process->kill(SIGKILL);
    static_cast<void>(t.process->wait(patience));
    t.told.killed = true;
  }
  trainer* living(uint64_t from) {
    for (size_t i = 0; i < trainers_.size(); ++i) {
      auto& t = trainers_[(from + i) % trainers_.size()];
      if (!t.told.killed && !t.record->ended())
        return &t;
    }
    return nullptr;
  }

  void befall() {
    const auto lasts = std::chrono::milliseconds{20 + below(below(3) == 0 ? 2500 : 500)};
    auto* who = living(below(trainers_.size()));
    const auto n = below(workers_.size());
    switch (below(4)) {
    case 0:
      say(fmt::format("worker {} is killed, and comes again after {} ms", n, lasts.count()));
      workers_[n].process->process.kill(SIGKILL);
      static_cast<void>(workers_[n].process->process.wait(patience));
      ++worker_lives_;
      std::this_thread::sleep_for(lasts);
      return start(workers_[n]);
    case 1:
      say(fmt::format("the dispatcher is killed, and comes again after {} ms", lasts.count()));
      dispatcher_->process.kill(SIGKILL);
      static_cast<void>(dispatcher_->process.wait(patience));
      std::this_thread::sleep_for(lasts);
      return begin_dispatcher();
    case 2:
      if (who == nullptr)
        return;
      say(fmt::format("{} is stopped for {} ms", who->told.name, lasts.count()));
      who->process->kill(SIGSTOP);
      // A consumer of rounds that is silent for longer than its lease (1 s) loses its seat as soon
      // as another consumer reports that it waits. So consumers of rounds are stopped for less.
      std::this_thread::sleep_for(rounds_ ? std::min(lasts, 500ms) : lasts);
      return static_cast<void>(who->process->kill(SIGCONT));
    default:
      // One trainer of rounds stays from the first round to the last: the rule compares the others
      // with it.
      if (who == nullptr || (rounds_ && who == &trainers_.front()))
        return;
      say(fmt::format("{} is killed, and another of its id comes", who->told.name));
      end(*who);
      killed_ = true;
      return add_trainer(who->told.member, rounds_);
    }
  }

  /// The error in the windows that the status shows; empty: none. While there is an error, the
  /// status is read again, because workers report their windows only with heartbeats.
  std::string judge_windows(const std::vector<told_trainer>& all) const {
    std::string wrong = "no status";
    shows(dispatcher_->address, [&](const service_status& now) {
      wrong = wrong_in(now, all);
      return wrong.empty();
    });
    return wrong;
  }
  std::string wrong_in(const service_status& now, const std::vector<told_trainer>& all) const {
    for (const auto& job : now.jobs)
      for (const auto& task : job.tasks) {
        if (task.window && task.window->bytes > budget)
          return fmt::format("a window has {} bytes", task.window->bytes);
        if (auto x = task.window ? wrong_positions(*task.window, all) : ""; !x.empty())
          return x;
      }
    return {};
  }
  /// The violation of the following rule; empty: none. Each element that was made since a trainer
  /// joined was given to the trainer, was skipped, or is still in the window for it.
  std::string wrong_positions(const window_status& window,
                              const std::vector<told_trainer>& all) const {
    if (worker_lives_ != 1 || killed_)
      return {};
    for (const auto& one : window.trainers) {
      const auto at = std::ranges::find(all, one.id, &told_trainer::member);
      if (at == all.end() || at->elements.empty())
        continue;
      // The trainer joined at element `begun`, and may have skipped elements before its first one.
      const auto passed = at->elements.size() + one.skipped + one.lag;
      const auto begun = window.end - passed;
      const auto first = static_cast<uint64_t>(at->elements.front());
      if (passed > window.end || begun > first || first - begun > one.skipped)
        return fmt::format(
          "{} was given {} from {} to {}, skipped {} and is {} behind; {} were made", at->name,
          at->elements.size(), at->elements.front(), at->elements.back(), one.skipped, one.lag,
          window.end);
    }
    return {};
  }

  std::mt19937_64 random_;
  const bool rounds_;
  const std::string folder_;
  relay front_;
  std::unique_ptr<server_process> dispatcher_;
  std::deque<worker> workers_;
  std::deque<trainer> trainers_;
  uint64_t members_ = 0;
  size_t worker_lives_ = 1;
  bool killed_ = false;
  std::vector<std::string> story_;
};

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr ? std::strtoull(given, nullptr, 0) : otherwise;
}

void try_out(bool rounds) {
  if (std::getenv("HEADRACE_FAULT") != nullptr)
    GTEST_SKIP() << "another fault is asked for";
  const auto seed = number_of("HEADRACE_TEST_SEED", 1);
  const auto times = number_of("HEADRACE_SHARING_ROUNDS",
                               std::max<uint64_t>(2, number_of("HEADRACE_FAULT_ROUNDS", 1) / 8));
  for (uint64_t i = 0; i < times; ++i) {
    scratch_directory folder;
    shared_service service{seed + i, rounds, folder.path() + "/service"};
    EXPECT_EQ(service.run(), "") << "again: HEADRACE_TEST_SEED=" << seed + i
                                 << " HEADRACE_SHARING_ROUNDS=1 build/tests/faults_test "
                                    "'--gtest_filter=Faults.*Share*'\n"
                                 << service.story();
  }
}

/// The number of services is HEADRACE_SHARING_ROUNDS if it is set, else an eighth of
/// HEADRACE_FAULT_ROUNDS, and at least two.
TEST(Faults, TrainersThatShareACacheReadRisingElements) { try_out(false); }
TEST(Faults, TrainersThatShareRoundsStepTogether) { try_out(true); }

} // namespace
} // namespace headrace::detail::test
