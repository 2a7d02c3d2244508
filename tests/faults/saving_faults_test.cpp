#include "tests/cluster/processes.hpp"
#include "tests/faults/scenario.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <deque>
#include <filesystem>
#include <future>
#include <random>
#include <set>
#include <thread>

namespace headrace::detail::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A service of processes that saves a dataset, with one fault after another: a worker is killed,
/// stopped or cut off, or the dispatcher is killed. After some time that process is back.
class saving_service {
public:
  saving_service(uint64_t seed, std::string folder) : random_(seed), folder_(std::move(folder)) {
    fs::create_directories(folder_);
    keeps_ = below(2) == 0;
    total_ = static_cast<int64_t>(500 + below(1500));
    begin_dispatcher();
    for (auto i = 1 + below(3); i > 0; --i) add_worker();
  }

  /// Saves and reads the dataset while faults occur. Returns the rule that was violated; empty:
  /// none.
  std::string run() {
    const auto what =
      dataset::range(total_).map([](expr x) { return x * 3; }).apply([](const dataset& x) {
        return x.sleep(2ms);
      });
    const auto where = folder_ + "/saved";
    auto saved = std::async(std::launch::async, [&]() -> std::string {
      try {
        const auto done = distribute_save(what, where,
                                          {.service = dispatcher_address(),
                                           .wait = true,
                                           .worker_timeout = patience,
                                           .stall_timeout = patience});
        return done.elements == static_cast<uint64_t>(total_)
                 ? ""
                 : fmt::format("it says {} elements", done.elements);
      } catch (const error& e) {
        return e.what();
      }
    });
    auto read = std::async(std::launch::async, [&] { return judge(where, true); });
    for (auto i = 1 + below(5); i > 0; --i) befall();
    make_good();
    if (auto wrong = saved.get(); !wrong.empty())
      return "the client reads: " + wrong;
    if (auto wrong = read.get(); !wrong.empty())
      return "who read meanwhile: " + wrong;
    return judge(where, false);
  }
  std::string story() const {
    std::string out;
    for (const auto& line : story_) out += "  " + line + "\n";
    return out;
  }

private:
  struct worker {
    std::unique_ptr<relay> control;
    std::unique_ptr<server_process> process;
    std::string port = "0";
    bool stopped = false;
  };
  uint64_t below(uint64_t n) { return random_() % n; }
  void say(std::string what) { story_.push_back(std::move(what)); }
  std::string dispatcher_address() const { return fmt::format("127.0.0.1:{}", front_.port()); }

  void begin_dispatcher() {
    std::vector<std::string> options{"--lease", "1s", "--heartbeat", "200ms"};
    if (keeps_)
      options.insert(options.end(), {"--work-dir", folder_ + "/state"});
    dispatcher_ = std::make_unique<server_process>(start_dispatcher(std::move(options)));
    front_.forward_to(dispatcher_->port());
    for (auto& w : workers_) w.control->forward_to(dispatcher_->port());
  }
  void start(worker& w) {
    w.process = std::make_unique<server_process>(start_worker(
      fmt::format("127.0.0.1:{}", w.control->port()), {"--data-port", w.port, "--lease", "1s"}));
    w.port = std::to_string(w.process->port());
    w.stopped = false;
  }
  void add_worker() {
    auto& fresh = workers_.emplace_back();
    fresh.control = std::make_unique<relay>(dispatcher_->port());
    start(fresh);
  }

  /// Causes a fault, and waits for as long as it lasts.
  void befall() {
    const auto lasts = std::chrono::milliseconds{20 + below(below(3) == 0 ? 2500 : 400)};
    const auto n = below(workers_.size());
    auto& w = workers_[n];
    switch (below(6)) {
    case 0:
    case 1:
      say(fmt::format("worker {} is killed, and comes again after {} ms", n, lasts.count()));
      w.process->process.kill(SIGKILL);
      static_cast<void>(w.process->process.wait(patience));
      std::this_thread::sleep_for(lasts);
      return start(w);
    case 2:
      say(fmt::format("worker {} is stopped for {} ms", n, lasts.count()));
      w.process->process.kill(SIGSTOP);
      std::this_thread::sleep_for(lasts);
      return static_cast<void>(w.process->process.kill(SIGCONT));
    case 3:
      say(fmt::format("the dispatcher is killed{}, and comes again after {} ms",
                      keeps_ ? "" : " with its state", lasts.count()));
      dispatcher_->process.kill(SIGKILL);
      static_cast<void>(dispatcher_->process.wait(patience));
      std::this_thread::sleep_for(lasts);
      return begin_dispatcher();
    case 4:
      say(fmt::format("worker {} is cut off for {} ms", n, lasts.count()));
      w.control->refuse(true);
      w.control->cut();
      std::this_thread::sleep_for(lasts);
      return w.control->refuse(false);
    default: {
      const auto which = below(2) == 0 ? relay::direction::forward : relay::direction::back;
      say(fmt::format("one direction of worker {} is swallowed for {} ms", n, lasts.count()));
      w.control->swallow_all(which, true);
      std::this_thread::sleep_for(lasts);
      w.control->cut();
      return w.control->swallow_all(which, false);
    }
    }
  }
  void make_good() {
    if (workers_.size() < 4)
      add_worker();
  }

  /// Reads the saved dataset. Returns the error in its elements; empty: none. `meanwhile`: the
  /// dataset is read while workers still write it.
  std::string judge(const std::string& where, bool meanwhile) const {
    try {
      int64_t next = 0;
      for (const auto& x : dataset::load(where, {.wait = meanwhile, .stall_timeout = patience})) {
        const auto value = x[0].scalar<int64_t>();
        if (value != 3 * next)
          return fmt::format("{} comes where {} would be", value, 3 * next);
        ++next;
      }
      return next == total_ ? "" : fmt::format("{} of {} elements come", next, total_);
    } catch (const error& e) {
      return e.what();
    }
  }

  std::mt19937_64 random_;
  const std::string folder_;
  bool keeps_ = false;
  int64_t total_ = 0;
  relay front_;
  std::unique_ptr<server_process> dispatcher_;
  std::deque<worker> workers_;
  std::vector<std::string> story_;
};

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr ? std::strtoull(given, nullptr, 0) : otherwise;
}

/// The number of services is HEADRACE_SAVE_ROUNDS if it is set, else an eighth of
/// HEADRACE_FAULT_ROUNDS, and at least two.
TEST(Faults, SavesAreWholeWhateverBefallsTheService) {
  if (std::getenv("HEADRACE_FAULT") != nullptr)
    GTEST_SKIP() << "another fault is asked for";
  const auto seed = number_of("HEADRACE_TEST_SEED", 1);
  const auto rounds = number_of("HEADRACE_SAVE_ROUNDS",
                                std::max<uint64_t>(2, number_of("HEADRACE_FAULT_ROUNDS", 1) / 8));
  for (uint64_t i = 0; i < rounds; ++i) {
    scratch_directory folder;
    saving_service service{seed + i, folder.path() + "/service"};
    EXPECT_EQ(service.run(), "") << "again: HEADRACE_TEST_SEED=" << seed + i
                                 << " HEADRACE_SAVE_ROUNDS=1 build/tests/faults_test "
                                    "'--gtest_filter=Faults.Saves*'\n"
                                 << service.story();
  }
}

} // namespace
} // namespace headrace::detail::test
