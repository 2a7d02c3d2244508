#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <chrono>
#include <mutex>

namespace headrace::detail {

/// Chooses the number of parallel calls, for operators where the graph leaves it open, while they
/// run. An operator whose reader waits gets one call more; if that does not make it faster, the
/// call is taken away, and none is added for a while. An operator whose reader never waits gives up
/// a call for others. All operators together stay within a budget of calls and of bytes.
///
/// Times are given by the callers. Thread-safe.
class call_tuner {
public:
  struct budget {
    size_t calls = 1;         ///< in all operators
    size_t bytes = 256 << 20; ///< held by all calls
    bool adapts = true;       ///< false: every operator always has `calls`
  };
  /// Measurements made while some blocks were read from an operator.
  struct window {
    std::chrono::nanoseconds passed{};
    std::chrono::nanoseconds waited{}; ///< the part of that in which the reader waited for rows
    uint64_t rows = 0;
    size_t bytes_a_call = 0; ///< about the bytes that a call holds
  };
  using operator_id = size_t;

  explicit call_tuner(budget most) : budget_(most) {}

  /// Adds an operator, which begins with this many calls, or with fewer if the budget has not so
  /// many.
  operator_id add(size_t calls = 1);
  /// Removes an operator.
  void remove(operator_id which);
  /// How many calls it may run at a time: at least one.
  size_t calls(operator_id which) const;
  void observe(operator_id which, const window& seen);

private:
  struct entry {
    bool there = true;
    size_t calls = 1;
    size_t bytes_a_call = 0;
    double rate = 0;    ///< rows a second before the last call was added
    unsigned tries = 0; ///< windows in which the last call can still show that it helps
    unsigned rests = 0; ///< windows until another call may be added
    unsigned idles = 0; ///< windows in a row in which the reader did not wait
  };
  bool room_for(const entry& one) const;

  const budget budget_;
  mutable std::mutex mutex_;
  std::vector<entry> all_;
};

/// The bytes that a graph's options let its operators hold.
size_t bytes_of(const graph_options& options);

/// The tuner for a graph's options.
std::shared_ptr<call_tuner> tuner_for(const graph_options& options);

} // namespace headrace::detail
