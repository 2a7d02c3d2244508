#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// A fault of a service of processes.
enum class fault : uint8_t {
  cut,           ///< connections are cut, and new ones refused
  hold,          ///< connections stay, and nothing passes on them
  swallow_forth, ///< bytes from the connecting side are discarded; connections are cut when the
                 ///< fault is healed
  swallow_back,  ///< bytes to the connecting side are discarded; connections are cut when the
                 ///< fault is healed
  refuse,        ///< one more worker joins, whose data port refuses connections
  stop,          ///< SIGSTOP, and SIGCONT when healed
  kill,          ///< SIGKILL; another worker or dispatcher starts when healed
  roll,          ///< the workers are replaced one after another, while the trainers (at
                 ///< `worker_control`: the replaced workers) cannot reach the dispatcher
  end,           ///< SIGTERM to everything at once
  slow,          ///< bytes arrive a fifth of a second late, and few at a time
  full,          ///< the dispatcher's disk has no space left
  clock,         ///< the time of day jumps: an hour ahead, and back by two hours when healed
};
std::string to_string(fault x);

/// The process, or the connection, that has the fault.
enum class place : uint8_t { dispatcher, worker, trainer, worker_control, trainer_control, data };
std::string to_string(place x);

/// The durations and amounts of a scenario.
struct fault_scale {
  duration lease;
  duration heartbeat;
  duration below; ///< the length of a fault that is shorter than the lease
  duration above; ///< the length of a fault that is longer than the lease
  int64_t rows;   ///< the number of rows under `dynamic`; under `off` there are a fifth as many
};

/// One service, the trainers that read from it, and its fault. Values that are not arguments of
/// `draw` are drawn from the seed.
struct scenario {
  fault what = fault::cut;
  place where = place::data;
  std::optional<duration> length; ///< the length of the fault; none: the fault is not healed
  bool off = false;               ///< true: sharding_policy::off; false: dynamic
  size_t trainers = 1;            ///< if there are several, they share a job
  uint64_t seed = 0;
  fault_scale scale{};
  bool at_least_once = false; ///< with dynamic: the guarantee is that no element is missing

  // -- drawn -------------------------------------------------------------------------
  size_t workers = 1;
  std::string graph = "range";
  std::string job;
  int64_t total = 0;
  int64_t most_outstanding = 0;
  duration worker_timeout{};
  duration reading{};        ///< the least time that the trainers take to read their elements
  double begun = 0.05;       ///< the fault begins when trainers have read this part of `total`
  bool workers_first = true; ///< roll: the new worker joins before the old one leaves
  bool trainers_too = false; ///< end: trainers get SIGTERM as well

  /// The name of the kind of scenario, such as `cut-data-7.0s-dynamic-2`.
  std::string name() const;
  /// `name` and the drawn values.
  std::string describe() const;
  /// True if the dispatcher is killed, and another dispatcher continues with the stored state.
  bool comes_back() const {
    return what == fault::kill && where == place::dispatcher && length.has_value();
  }
  /// True if the dispatcher keeps its state in a directory.
  bool is_kept() const { return comes_back() || what == fault::full; }
  /// True if the scenario can run here. The fault `full` requires the right to mount a small disk,
  /// the fault `clock` requires `clock_library` and a build without a sanitizer.
  bool is_possible() const;
};

scenario draw(fault what, place where, std::optional<duration> length, bool off, size_t trainers,
              uint64_t seed, const fault_scale& scale, bool at_least_once = false);

/// Some scenarios, with each fault at least once. The lease is two seconds, but five seconds for
/// faults during which no lease may expire.
std::vector<scenario> short_round(uint64_t seed);
/// Every fault, length, mode and number of trainers, and SIGTERM to everything a hundred times.
std::vector<scenario> full_round(uint64_t seed);
/// A scenario that is drawn at random from those of `full_round`.
scenario drawn_one(uint64_t seed);

/// The library that moves the time of day of a process; empty: it is not installed.
std::string clock_library();
/// Makes the mounts of this process private to it. Returns false if the process may not mount
/// anything. @pre the process has started no thread
bool may_mount();

} // namespace headrace::detail::test
