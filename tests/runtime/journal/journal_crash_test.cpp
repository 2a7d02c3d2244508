#include "tests/runtime/journal/journal_fixture.hpp"
#include "tests/runtime/journal/simulated_disk.hpp"
#include "tests/support/test_seed.hpp"

#include <array>
#include <fmt/format.h>
#include <sqlite3.h>

namespace headrace::detail::test {
namespace {

using unsynced = simulated_disk::unsynced;

sqlite_journal_options on(const simulated_disk& disk, const std::string& directory) {
  auto out = quick(directory);
  out.vfs = disk.name();
  out.checkpoint_pages = 8;
  out.end_patience = duration::zero();
  out.full_pause = 100us;
  out.failed_pauses = {.first = 100us, .longest = 500us};
  return out;
}

/// The content of a journal after each of its calls.
class call_history {
public:
  explicit call_history(journal_texts from = {}) : after_{std::move(from)} {}

  size_t calls() const { return after_.size() - 1; }
  void appended(uint64_t stream, const std::string& text) {
    auto& x = add()[stream];
    if (x.empty())
      x.push_back("-");
    x.push_back(text);
  }
  void settled(uint64_t stream, const std::string& text) { add()[stream] = {text}; }
  void dropped(uint64_t stream) { add().erase(stream); }

  /// Succeeds if `found` is the content after the first n calls, for some n of at least `at_least`.
  testing::AssertionResult has_prefix(const journal_texts& found, size_t at_least) const {
    for (size_t i = at_least; i < after_.size(); ++i)
      if (after_[i] == found)
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << "not the outcome of between " << at_least << " and "
                                       << calls() << " calls: " << testing::PrintToString(found);
  }

private:
  journal_texts& add() { return after_.emplace_back(after_.back()); }
  std::vector<journal_texts> after_;
};

/// Calls a journal on a disk that loses its power at some operation.
class crash_run {
public:
  crash_run(std::string directory, disk_image content, journal_texts texts = {})
    : directory_(std::move(directory)), disk_(std::move(content)), history_(std::move(texts)) {}

  /// Runs the calls until the disk loses its power at this operation. Returns false if the calls
  /// ended before the operation. If `failing_one_of` is n > 0, each operation of the disk before
  /// that also fails with probability 1 / n.
  bool until(uint64_t operation, std::mt19937_64& random, unsigned failing_one_of = 0) {
    outcomes said;
    // The journal completes no call after the loss of power, so `said` stops waiting for results.
    disk_.lose_power_at(operation, [&said] { said.give_up(); });
    for (int session = 0; session < 2 && !disk_.powerless(); ++session) {
      auto log = open_sqlite_journal(on(disk_, directory_));
      if (!log) {
        EXPECT_TRUE(disk_.powerless()) << log.status().message();
        return true;
      }
      disk_.fail_some(failing_one_of, random());
      use(**log, said, random);
      disk_.fail_some(0, 0);
      log->reset(); // closing the journal also writes
    }
    return disk_.powerless();
  }

  disk_image rest(unsynced rest, std::mt19937_64& random) const {
    return disk_.after_power_loss(rest, random);
  }
  /// Opens the journal after the loss of power, and returns its content. Checks that this is the
  /// content after the first n calls, for some n that covers all calls reported as complete.
  journal_texts judge(const disk_image& rest) const {
    simulated_disk there{rest};
    auto log = open_sqlite_journal(on(there, directory_));
    EXPECT_TRUE(log.ok()) << log.status().message();
    if (!log)
      return {};
    auto found = texts_of(**log);
    EXPECT_TRUE(history_.has_prefix(found, kept_));
    return found;
  }

private:
  void use(journal& log, outcomes& said, std::mt19937_64& random) {
    for (int round = 0; round < 8 && !disk_.powerless(); ++round) {
      for (auto n = random() % 4; n != 0; --n) call(log, random);
      const auto text = std::to_string(history_.calls());
      history_.appended(9, text);
      log.append(9, bytes_of(text), said.expect());
      if (!said.wait_for(++waited_) || said.kept() < waited_)
        break;
      kept_ = history_.calls();
    }
  }
  void call(journal& log, std::mt19937_64& random) {
    const auto stream = random() % 3;
    const auto text = fmt::format("{}-{}", history_.calls(), std::string(random() % 900, 'x'));
    if (const auto what = random() % 10; what == 0) {
      history_.dropped(stream);
      log.drop(stream);
    } else if (what < 3) {
      history_.settled(stream, text);
      log.settle(stream, bytes_of(text));
    } else {
      history_.appended(stream, text);
      log.append(stream, bytes_of(text), nullptr);
    }
  }

  std::string directory_;
  simulated_disk disk_;
  call_history history_;
  size_t kept_ = 0; ///< the number of calls that were reported as complete
  size_t waited_ = 0;
};

class JournalCrash : public testing::TestWithParam<unsynced> {};

TEST_P(JournalCrash, AtEachOperationLeavesAPrefixWithAllThatWasReported) {
  const auto seed = test_seed();
  const auto folder = scratch_directory::in_memory();
  uint64_t operation = 1;
  for (bool crashed = true; crashed; ++operation) {
    SCOPED_TRACE(fmt::format("power lost at operation {}", operation));
    std::mt19937_64 random{seed + operation};
    crash_run run{folder->journal(), {}};
    crashed = run.until(operation, random);
    const auto rest = run.rest(GetParam(), random);
    const auto found = run.judge(rest);
    // Power is lost again during the recovery or soon after it.
    crash_run second{folder->journal(), rest, found};
    second.until(1 + random() % 20, random);
    second.judge(second.rest(GetParam(), random));
    if (HasFailure())
      break;
  }
  EXPECT_GT(operation, 100u);
}

TEST_P(JournalCrash, OfADiskThatFailedNowAndThenLeavesAPrefixToo) {
  const auto seed = test_seed();
  const auto folder = scratch_directory::in_memory();
  for (uint64_t i = 0; i < 100; ++i) {
    SCOPED_TRACE(fmt::format("run {}", i));
    std::mt19937_64 random{seed + i};
    crash_run run{folder->journal(), {}};
    run.until(20 + random() % 200, random, 5 + random() % 20);
    run.judge(run.rest(GetParam(), random));
    if (HasFailure())
      break;
  }
}

std::string name_of(const testing::TestParamInfo<unsynced>& x) {
  constexpr std::array names = {"Lost", "Kept", "Random"};
  return names.at(static_cast<size_t>(x.param));
}
INSTANTIATE_TEST_SUITE_P(Unsynced, JournalCrash,
                         testing::Values(unsynced::lost, unsynced::kept, unsynced::random),
                         name_of);

// -- call_history and simulated_disk detect losses -----------------------------------

TEST(CallHistory, FindsWhatIsMissingAndWhatIsTooMuch) {
  call_history history;
  history.appended(1, "a");
  history.settled(1, "A");
  history.appended(2, "b");
  EXPECT_TRUE(history.has_prefix({{1, {"A"}}}, 2));
  EXPECT_FALSE(history.has_prefix({{1, {"A"}}}, 3));
  EXPECT_FALSE(history.has_prefix({{1, {"A"}}, {2, {"-", "c"}}}, 0));
  EXPECT_FALSE(history.has_prefix({{2, {"-", "b"}}}, 0));
}

TEST(SimulatedDisk, ForgetsWhatWasNotSynced) {
  const auto folder = scratch_directory::in_memory();
  simulated_disk disk;
  std::mt19937_64 random{1};
  auto log = open(on(disk, folder->journal()));
  ASSERT_TRUE(append(*log, 1, "kept").ok());
  outcomes said;
  disk.hold_syncs(true);
  log->append(1, bytes_of("under way"), said.expect());
  ASSERT_TRUE(disk.wait_for_held_sync());
  const auto lost = disk.after_power_loss(unsynced::lost, random);
  const auto kept = disk.after_power_loss(unsynced::kept, random);
  disk.hold_syncs(false);
  ASSERT_TRUE(said.wait_for(1));
  log.reset();
  for (const auto& [image, expected] : {std::pair{lost, journal_texts{{1, {"-", "kept"}}}},
                                        {kept, {{1, {"-", "kept", "under way"}}}}}) {
    simulated_disk there{image};
    EXPECT_EQ(texts_of(*open(on(there, folder->journal()))), expected);
  }
}

} // namespace
} // namespace headrace::detail::test
