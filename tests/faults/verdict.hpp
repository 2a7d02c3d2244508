#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "tests/support/reading.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// The history of one trainer process, for `judge_history`.
struct told_reading {
  reading of;
  /// The trainer, the dispatcher or workers were stopped or unreachable for so long that the
  /// trainer may read an error.
  bool may_fail = false;
  bool hung = false; ///< the trainer did not end, and was killed by the test
  duration longest_wait{};
};

/// How a server process ended after SIGTERM.
struct told_server {
  std::string name;
  std::string end; ///< empty: in order
};

/// The history of one service of processes, after all servers have ended.
struct told_history {
  std::vector<told_reading> readings;
  std::vector<told_server> servers;
  std::vector<int64_t> elements; ///< all elements of the graph, in ascending order
  bool off = false;
  bool shared = false; ///< all readings are of one job; if false, each reading has a job of its own
  /// Each row of the graph is made of one split, so that no split is lost in part.
  bool single_rows = true;
  /// A worker died or left, or its lease may have expired because the worker or the dispatcher was
  /// away.
  bool worker_away = false;
  /// No element may be missing; if a worker was away, or a reader is gone, some may be repeated.
  bool at_least_once = false;
  /// Under OFF: the number of workers that may have begun a copy of the elements.
  size_t copies = 1;
  /// Under OFF: the number of workers that were present from the beginning to the end.
  size_t steady = 1;
  duration longest_wait{}; ///< the longest wait that the options and the fault allow
};

/// The promises that were broken. The rules are those of the judge of simulated services
/// (tests/actors/world/judge.hpp). That judge takes facts from the members of the simulation; here
/// the facts follow from the actions on the processes.
std::vector<violation> judge_history(const told_history& what);

} // namespace headrace::detail::test
