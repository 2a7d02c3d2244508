#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/pipeline/types/function_reference.hpp"
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

/// The bounds of one call of `iterator::next`: at least one row, at most `rows`, and about `bytes`
/// (a single row may be larger).
struct limits {
  size_t rows = 1;
  size_t bytes = 256 * 1024;
};

namespace detail {
/// The number of rows in a source without end.
inline constexpr uint64_t endless_rows = uint64_t{1} << 62;
} // namespace detail

/// Consecutive splits of one source: [first, first + count).
struct split_range {
  uint64_t first = 0;
  uint64_t count = 0;
  friend bool operator==(const split_range&, const split_range&) = default;
};

/// The end of a pass over a source, for a task.
struct pass_over {
  /// No other task was given splits of the pass: this task read all of them.
  bool alone = false;
  /// Not 0: the pass was over and forgotten before this task requested splits of it. The source
  /// continues with the later pass of this number, which runs now or has splits that were given
  /// back.
  uint64_t running = 0;
  friend bool operator==(const pass_over&, const pass_over&) = default;
};

/// The next splits of a source, or none if its pass is over.
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
  pass_over over;                    ///< valid only if `splits` is nullopt
};

/// Identifies the splits of a source whose numbers may mean other splits in another process, or
/// later: the matching files, and the number of rows in each.
struct split_listing {
  static constexpr size_t most_bytes = size_t{64} << 10; ///< the most bytes of kept entries

  uint64_t digest = 0; ///< the digest of all entries, in their order
  uint64_t count = 0;  ///< the number of entries
  /// The entries in the order of the split numbers, even if the splits are read in another order.
  /// Empty if the entries take more than `most_bytes`.
  std::vector<std::string> entries;
  friend bool operator==(const split_listing&, const split_listing&) = default;
};

/// Decides which splits of the graph's sources an iterator reads. In a local run and under OFF
/// there is no provider, and every source reads all of its splits; under DYNAMIC the runner leases
/// the splits. Several threads may call it at once, each for another source.
class split_provider {
public:
  virtual ~split_provider() = default;
  /// Blocks until the next splits of `source` in its pass `pass` are determined, or the pass is
  /// over. `total`: the number of splits in a pass; nullopt if the source has not determined it yet
  /// (then splits beyond its end may be returned). `listing`: the listing, if the numbers of splits
  /// may mean other splits in another process; null if they mean the same splits in every process.
  /// An error ends the source: cancelled, unavailable, or failed_precondition if other tasks found
  /// another listing. @pre all splits of the source that earlier calls returned have been read
  virtual result<split_answer> next(uint32_t source, uint64_t pass, std::optional<uint64_t> total,
                                    const std::shared_ptr<const split_listing>& listing) = 0;
  /// Must be called when a source reads no more of a pass that is not over. `unread`: those of the
  /// splits returned last that the source has not begun to read. Does not block.
  virtual void close(uint32_t /*source*/, uint64_t /*pass*/, split_range /*unread*/) {}
};

/// The blocks of a `distribute` node. Its interface is that of an iterator.
class element_source {
public:
  virtual ~element_source() = default;
  /// Waits for a block and returns it: 1 to `wanted.rows` rows, or nullopt at the end.
  /// Failures are error rows.
  virtual std::optional<block> next(const limits& wanted) = 0;
  /// To be called at the end. True if the repetition gave no element to any reader.
  virtual bool was_empty() { return false; }
};

/// Opens a `distribute` node.
using open_distribute =
  std::function<result<std::unique_ptr<element_source>>(const detail::dataset_node&)>;

namespace detail {
struct op_counters;
}

/// The counters of an operator; null: it is not counted.
using counters_of = std::function<detail::op_counters*(const detail::dataset_node&)>;

/// A C++ function that graphs call by name: from rows to rows. If the graph has parallel calls,
/// several threads call it at a time. The destructor of an iterator does not wait for running
/// calls, so the function must own the data that it uses.
using named_function = std::function<result<block>(const block& rows)>;

/// Finds a function that a graph calls. An empty result, or an exception `error`, means that there
/// is no such function.
using function_finder = std::function<named_function(const function_reference&)>;

namespace detail {
class run_caches;
}

/// The environment of an iterator. It must outlive the iterator.
struct iterator_context {
  /// When a stop is requested, every wait in the graph ends with `cancelled`. An iterator's
  /// destructor waits for threads that read ahead: request the stop first if a split provider or a
  /// service may block them.
  std::stop_token stop;
  split_provider* splits = nullptr; ///< null: all splits are read
  /// Compares the listing of a source with the listings that other runs found, and waits for the
  /// result. It is called at the beginning of the source's first pass. An error ends the source:
  /// `failed_precondition` if another run found another listing. The function is empty unless a
  /// static sharding policy divides the graph between several runs.
  std::function<status(uint32_t source, const std::shared_ptr<const split_listing>&)> same_listing;
  /// The elements of caches in memory, if they belong to this run alone. Null: they belong to the
  /// graph's nodes, and are shared by all iterations in this process.
  detail::run_caches* caches = nullptr;
  open_distribute distribute;    ///< empty: `distribute` results in an error
  function_finder find_function; ///< empty: only functions that are part of the graph are available
  uint64_t seed =
    0; ///< drawn for this run; operators without a seed of their own derive theirs from it
  uint64_t repetition = 0; ///< the repetition's number, for operators that draw anew in each one
  counters_of counters;    ///< may be empty
  /// Called on any thread when an `ignore_errors` operator has left out further elements, with the
  /// number of these elements; may be empty.
  std::function<void(uint64_t)> ignored;
};

} // namespace headrace
