#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <chrono>
#include <mutex>

namespace headrace::detail {

/// Chooses, for operators whose number of calls at a time the graph leaves open, how many there
/// are, while they run. An operator whose reader waits is given one call more; if that does not
/// make it faster it is taken back, and not tried again for a while; one whose reader never waits
/// gives a call up for others. All of them together stay within a budget of calls and of bytes.
///
/// Times are what callers say. Thread-safe.
class call_tuner {
public:
  struct budget {
    size_t calls = 1;         ///< in all operators
    size_t bytes = 256 << 20; ///< held by all calls
    bool adapts = true;       ///< false: every operator has `calls`, always
  };
  /// What happened while some blocks were read from an operator.
  struct window {
    std::chrono::nanoseconds passed{};
    std::chrono::nanoseconds waited{}; ///< of that, the reader for rows
    uint64_t rows = 0;
    size_t bytes_a_call = 0; ///< what a call holds, about
  };
  using operator_id = size_t;

  explicit call_tuner(budget most) : budget_(most) {}

  /// An operator that begins, with so many calls if the budget has them, else with fewer.
  operator_id add(size_t calls = 1);
  /// One that ends.
  void remove(operator_id which);
  /// How many calls it may have at a time: at least one.
  size_t calls(operator_id which) const;
  void observe(operator_id which, const window& seen);

private:
  struct entry {
    bool there = true;
    size_t calls = 1;
    size_t bytes_a_call = 0;
    double rate = 0;    ///< rows a second before the last call was added
    unsigned tries = 0; ///< windows that are left to that call to show that it helps
    unsigned rests = 0; ///< windows until more is tried
    unsigned idles = 0; ///< windows in a row in which the reader did not wait
  };
  bool room_for(const entry& one) const;

  const budget budget_;
  mutable std::mutex mutex_;
  std::vector<entry> all_;
};

/// What a graph's options let its operators hold.
size_t bytes_of(const graph_options& options);

/// The tuner that a graph's options ask for.
std::shared_ptr<call_tuner> tuner_for(const graph_options& options);

} // namespace headrace::detail
