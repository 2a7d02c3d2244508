#pragma once

#include "headrace/pipeline/iterator/op_counters.hpp"
#include "headrace/pipeline/iterator/ports.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace headrace::detail {

/// The totals of one operator since the counters began. Times are in nanoseconds, as in
/// `op_counters`.
struct operator_totals {
  uint64_t rows = 0, blocks = 0, bytes = 0, kernel_calls = 0;
  uint64_t time_ns = 0, below_ns = 0, work_ns = 0;
  uint64_t lease_ns = 0, storage_ns = 0, memory_ns = 0;
  uint64_t samples = 0, queued = 0;
  /// The number of calls that may run at the same time at present; 0: the operator has no such
  /// number.
  uint64_t calls = 0;
  /// For `ignore_errors`: the number of error rows that were left out.
  uint64_t ignored = 0;
};

/// The counters of all operators of a graph, including those of datasets in functions. Must outlive
/// the iterators that count.
class operator_table {
public:
  explicit operator_table(dataset_ptr graph);
  operator_table(const operator_table&) = delete;

  struct entry {
    const dataset_node* node = nullptr;
    std::string name; ///< the operator and the parameters that distinguish it: `batch(64)`
    /// The depth in the graph: 0 for the operator whose rows are the dataset's elements, and one
    /// more for an input than for the operator that reads it.
    size_t depth = 0;
    /// The entry to whose function the operator belongs; SIZE_MAX: it belongs to no function.
    size_t caller = SIZE_MAX;
    op_counters counted{};
  };
  /// The number of entries. They are in depth-first order, each operator before its inputs.
  size_t size() const noexcept { return entries_.size(); }
  const entry& at(size_t i) const { return *entries_[i]; }
  /// The totals of each entry. May be called from any thread while iterators count.
  std::vector<operator_totals> read() const;

  /// The counters of a node, for `iterator_context::counters`; null: the table has no such node.
  op_counters* counters(const dataset_node& node);
  /// The name of an operator, as `entry::name`.
  static std::string name_of(const dataset_node& node);

private:
  void add(const dataset_node& node, op_counters* user, size_t depth, size_t caller);

  const dataset_ptr graph_;
  std::vector<std::unique_ptr<entry>> entries_;
  std::unordered_map<const dataset_node*, size_t> numbers_;
};

/// True if an operator works on threads of its own, so that the time in its `next` is a wait of the
/// caller and not work. `samples`: `operator_totals::samples`, or an increase of it.
bool works_on_threads(const dataset_node& node, uint64_t samples) noexcept;

} // namespace headrace::detail
