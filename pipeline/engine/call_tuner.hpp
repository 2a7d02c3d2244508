#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <chrono>
#include <mutex>

namespace headrace::detail {

/// Chooses the number of parallel calls while a graph runs, for operators whose number is not set
/// in the graph. An operator gets one more call if the operator above it (or the user) waits for
/// rows; if that does not raise its rate, the call is removed, and none is added for a while. An
/// operator loses a call if nothing waits for its rows; the call may be added to another operator.
/// All operators together stay within a budget of calls and of bytes.
///
/// Times are passed by the callers. Thread-safe.
class call_tuner {
public:
  struct budget {
    size_t calls = 1;         ///< the calls of all operators together
    size_t bytes = 256 << 20; ///< the bytes that all calls hold
    bool adapts = true;       ///< false: every operator always has `calls` calls
  };
  /// Measurements made while some blocks were read from an operator.
  struct window {
    std::chrono::nanoseconds passed{};
    /// The part of the elapsed time in which the operator above waited for rows.
    std::chrono::nanoseconds waited{};
    uint64_t rows = 0;
    size_t bytes_a_call = 0; ///< the approximate number of bytes that a call holds
  };
  using operator_id = size_t;

  explicit call_tuner(budget most) : budget_(most) {}

  /// Adds an operator, which begins with this number of calls, or with fewer if the budget is too
  /// small.
  operator_id add(size_t calls = 1);
  /// Removes an operator.
  void remove(operator_id which);
  /// The number of calls of the operator that may run at a time: at least one.
  size_t calls(operator_id which) const;
  void observe(operator_id which, const window& seen);

private:
  struct entry {
    bool there = true;
    size_t calls = 1;
    size_t bytes_a_call = 0;
    double rate = 0; ///< rows per second before the last call was added
    /// The number of windows in which the last call can still show that it raises the rate.
    unsigned tries = 0;
    unsigned rests = 0; ///< the number of windows until another call may be added
    unsigned idles = 0; ///< the number of consecutive windows with hardly any wait
  };
  bool room_for(const entry& one) const;

  const budget budget_;
  mutable std::mutex mutex_;
  std::vector<entry> all_;
};

/// The bytes that the operators of a graph may hold according to its options.
size_t bytes_of(const graph_options& options);

/// The tuner for a graph's options.
std::shared_ptr<call_tuner> tuner_for(const graph_options& options);

} // namespace headrace::detail
