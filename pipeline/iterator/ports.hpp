#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/result.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace headrace {

/// How much one call of `iterator::next` may give: at least one row, at most `rows`, and about
/// `bytes` (one row may be larger).
struct limits {
  size_t rows = 1;
  size_t bytes = 256 * 1024;
};

/// A run of splits of one source: indices `[first, first + count)`.
struct split_range {
  uint64_t first = 0;
  uint64_t count = 0;
  friend bool operator==(const split_range&, const split_range&) = default;
};

/// How a pass over a source ended for a task.
struct pass_over {
  /// No other task was given splits of it: what was read of it here is all that there is.
  bool alone = false;
  /// Not 0: the pass was over before this task asked for it, and is forgotten. This later pass runs
  /// now, or has splits that nobody read.
  uint64_t running = 0;
  friend bool operator==(const pass_over&, const pass_over&) = default;
};

/// The next splits of a source, or none: its pass is over.
struct split_answer {
  split_answer() = default;
  split_answer(const split_range& next) : splits(next) {}
  split_answer(const std::optional<split_range>& next) : splits(next) {}
  split_answer(const pass_over& how) : over(how) {}

  explicit operator bool() const noexcept { return splits.has_value(); }
  split_range& operator*() noexcept { return *splits; }
  const split_range& operator*() const noexcept { return *splits; }
  split_range* operator->() noexcept { return &*splits; }
  const split_range* operator->() const noexcept { return &*splits; }
  friend bool operator==(const split_answer&, const split_answer&) = default;

  std::optional<split_range> splits; ///< nullopt: the pass is over
  pass_over over;                    ///< means something only then
};

/// What a source numbers, where another process, or the same one later, may find something else:
/// the files that match, and how many rows each has.
struct split_listing {
  static constexpr size_t most_bytes = size_t{64} << 10; ///< of entries that are kept

  uint64_t digest = 0; ///< of all entries, in their order
  uint64_t count = 0;  ///< of entries
  /// In the order of their numbers, whatever order they are read in. None if they take more than
  /// `most_bytes`.
  std::vector<std::string> entries;
  friend bool operator==(const split_listing&, const split_listing&) = default;
};

/// Which splits of the graph's sources an iterator may read. Injected: in OFF mode and locally
/// there is none and every source reads all; in DYNAMIC mode the task's side of the lease protocol
/// stands behind it. Several threads may call it at once, each for another source.
class split_provider {
public:
  virtual ~split_provider() = default;
  /// Blocks until the next splits of `source` in its pass `pass` are known, or that this pass of
  /// the source is over. `total`: how many splits this source has in a pass; nullopt when it cannot
  /// tell (then indices past its end may be offered, and `exhausted` says so). `listing`: what the
  /// source found that has these numbers; null if they mean the same everywhere. All splits given
  /// before were read when it is called again. Errors (cancelled, unavailable, or
  /// failed_precondition where the listing is not that of others) end the source.
  virtual result<split_answer> next(uint32_t source, uint64_t pass, std::optional<uint64_t> total,
                                    const std::shared_ptr<const split_listing>& listing) = 0;
  /// Nothing more of that pass is read here, although it is not over: of the splits given last,
  /// `unread` were not begun. Does not block.
  virtual void close(uint32_t /*source*/, uint64_t /*pass*/, split_range /*unread*/) {}
};

/// Blocks that come from elsewhere: a `distribute` in mid-graph. Behaves as an iterator.
class element_source {
public:
  virtual ~element_source() = default;
  /// A block of 1 to `limits.rows` rows, or nullopt at the end. Blocks until there is one. Failures
  /// are error rows.
  virtual std::optional<block> next(const limits& wanted) = 0;
  /// At its end: no element was given to anybody, here or to others that share it.
  virtual bool was_empty() { return false; }
};

/// Opens a `distribute` node. `repetition` counts the iterations over that node.
using open_distribute = std::function<result<std::unique_ptr<element_source>>(const dataset_node&)>;

/// What runs in the graph, for benchmarks and `explain`. Counted per operator node; times in
/// nanoseconds.
struct op_counters {
  std::atomic<uint64_t> rows{0};         ///< given
  std::atomic<uint64_t> blocks{0};       ///< given
  std::atomic<uint64_t> kernel_calls{0}; ///< column kernels run
  std::atomic<uint64_t> bytes{0};        ///< in the rows given
  std::atomic<uint64_t> time_ns{0};      ///< in its `next`
  std::atomic<uint64_t> below_ns{0};     ///< of that, in the `next` of operators it uses
  std::atomic<uint64_t> work_ns{0};      ///< in its function, on other threads
  /// Of operators that work ahead: how often it was looked, and blocks that were there or on their
  /// way in sum.
  std::atomic<uint64_t> samples{0}, queued{0};
  op_counters* user = nullptr; ///< of the operator that uses this one; set by who makes them
  std::atomic<std::thread::id> thread{}; ///< which is in its `next`
};

/// A C++ function that graphs call by name: rows in, rows out. Where the graph asks for parallel
/// calls, several threads call it at a time, and a call that runs when the iterator goes is not
/// waited for: the function owns what it uses.
using named_function = std::function<result<block>(const block& rows)>;

class run_caches;

/// Everything an iterator needs from its surroundings. Outlives the iterator.
struct iterator_context {
  /// Every wait in the graph ends with `cancelled` when requested. An iterator's destructor waits
  /// for the threads that read ahead: request it first where a split provider or a service may keep
  /// them.
  std::stop_token stop;
  split_provider* splits = nullptr; ///< null: read everything
  /// Where several runs each read a part of the graph by the numbers of files: what a source found
  /// that has these numbers, as it begins its first pass. Blocks; `failed_precondition`, which ends
  /// the source, where the others found something else. Empty: nobody else reads.
  std::function<status(uint32_t source, const std::shared_ptr<const split_listing>&)> same_listing;
  /// What caches in memory hold, where that is this run's alone; null: the graph's nodes hold it,
  /// for all iterations in this process.
  run_caches* caches = nullptr;
  open_distribute distribute; ///< empty: `distribute` is an error
  /// Empty result, or `error` thrown: unknown.
  std::function<named_function(const std::string&)> find_function;
  uint64_t seed =
    0; ///< drawn for this run; operators without an explicit seed derive theirs from it
  uint64_t repetition = 0; ///< for shuffles that reshuffle in each iteration
  std::function<op_counters*(const dataset_node&)> counters; ///< may be empty
  /// Told how many more elements an `ignore_errors` left out, by any thread; may be empty.
  std::function<void(uint64_t)> ignored;
};

} // namespace headrace
