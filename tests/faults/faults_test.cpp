#include "tests/faults/faulty_service.hpp"
#include "tests/support/test_seed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

namespace headrace::detail::test {
namespace {

namespace fs = std::filesystem;

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr ? std::strtoull(given, nullptr, 0) : otherwise;
}

struct outcome {
  std::vector<std::string> story;
  std::vector<violation> broken;
  std::string folder; ///< the folder of records and logs; empty after the folder was removed
};

outcome try_out(const scenario& what, const std::string& logs, size_t number) {
  outcome out;
  out.folder = fmt::format("{}/{}-{}-{}", logs, what.name(), what.seed, number);
  fs::remove_all(out.folder);
  fs::create_directories(out.folder);
  try {
    faulty_service service{what, out.folder};
    try {
      out.broken = judge_history(service.run());
    } catch (const std::exception& e) {
      out.broken.push_back({"run", e.what()});
    }
    out.story = service.story();
  } catch (const std::exception& e) {
    out.broken.push_back({"start", e.what()});
  }
  if (out.broken.empty())
    fs::remove_all(std::exchange(out.folder, {}));
  return out;
}

std::string report(const scenario& what, const outcome& of, bool full) {
  std::string out;
  for (const auto& [rule, text] : of.broken) out += rule + ": " + text + "\n";
  for (const auto& line : of.story) out += "  " + line + "\n";
  out += fmt::format("records and logs: {}\n"
                     "again: HEADRACE_TEST_SEED={}{} HEADRACE_FAULT={} build/tests/faults_test "
                     "'--gtest_filter=Faults.*'",
                     of.folder, what.seed, full ? " HEADRACE_FAULTS=full" : "", what.name());
  return out;
}

/// Services of processes, each with one fault. Several services run at a time: they mostly wait.
///
/// Environment variables: HEADRACE_FAULTS is `full` (each round has all scenarios) or `drawn` (each
/// round has one random scenario); otherwise each round has the scenarios of `short_round`.
/// HEADRACE_FAULT: only scenarios whose name begins with its value are run. HEADRACE_FAULT_ROUNDS:
/// the number of rounds, which have different seeds. HEADRACE_FAULT_JOBS: the number of services
/// that run at a time. HEADRACE_FAULT_STORIES: if set, the actions in each service are printed.
TEST(Faults, AreBorneAsPromised) {
  const auto seed = number_of("HEADRACE_TEST_SEED", 1);
  const char* scope = std::getenv("HEADRACE_FAULTS");
  const bool full = scope != nullptr && std::string_view{scope} == "full";
  const bool drawn = scope != nullptr && std::string_view{scope} == "drawn";
  may_mount();
  const char* only = std::getenv("HEADRACE_FAULT");
  const bool tells = std::getenv("HEADRACE_FAULT_STORIES") != nullptr;
  const auto logs = (fs::temp_directory_path() / fmt::format("headrace-faults-{}", ::getpid()));

  std::vector<scenario> all;
  size_t impossible = 0;
  for (uint64_t i = 0; i < number_of("HEADRACE_FAULT_ROUNDS", 1); ++i)
    for (auto& one : drawn  ? std::vector{drawn_one(seed + i)}
                     : full ? full_round(seed + i)
                            : short_round(seed + i))
      if (only == nullptr || one.name().starts_with(only)) {
        if (one.is_possible())
          all.push_back(std::move(one));
        else
          ++impossible;
      }
  ASSERT_FALSE(all.empty()) << "no fault is called " << only;

  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::vector<std::jthread> threads;
  const auto jobs = std::min<uint64_t>(number_of("HEADRACE_FAULT_JOBS", 8), all.size());
  size_t broken = 0;
  for (uint64_t i = 0; i < jobs; ++i)
    threads.emplace_back([&] {
      for (size_t n = next++; n < all.size(); n = next++) {
        const auto how = try_out(all[n], logs, n);
        std::lock_guard lock{mutex};
        broken += !how.broken.empty();
        if (!how.broken.empty())
          ADD_FAILURE() << report(all[n], how, full || drawn);
        else if (tells)
          fmt::print("{}\n", fmt::join(how.story, "\n"));
      }
    });
  threads.clear();
  if (impossible != 0)
    fmt::print(
      "{} are left out: only root has small disks, and clocks need libfaketime, and no sanitizer\n",
      impossible);
  fmt::print("{} services, {} broke their word\n", all.size(), broken);
  if (broken == 0)
    fs::remove_all(logs);
}

} // namespace
} // namespace headrace::detail::test
