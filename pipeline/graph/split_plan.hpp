#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/graph/split_rows.hpp"

namespace headrace {

/// One source of a graph, as the job that leases its splits sees it.
struct source_splits {
  dataset_op op = dataset_op::range;
  /// Splits in one pass, where the graph tells. A split is one index (range, slices, from_tensors,
  /// counter, random, generator, fixed-length records), one query, a saved block or one file (all
  /// others);
  /// list_files and fixed-length records are known only where they are read.
  std::optional<uint64_t> splits;
  /// How often the source is started at most: -1 for ever, nullopt where that depends on data.
  std::optional<int64_t> passes;
  /// Sources of one group advance together (a zip with only one-to-one operators between): split i
  /// of one belongs to split i of the others, so they are leased as aligned ranges.
  uint32_t group = 0;
  bool zipped = false; ///< a zip reads it side by side with others
  /// Inputs that zips read before it, so that they hold rows of these when it is read.
  uint32_t behind = 0;
  /// It fills a cache in memory, from which later passes are read: these are not leased.
  bool kept = false;
};

/// The sources outside of function bodies and of what is read whole, numbered as the iterators
/// number them: in depth-first order.
struct split_plan {
  std::vector<source_splits> sources;
  uint32_t groups = 0;
  bool infinite = false; ///< the graph never ends
  /// Rows also come from other jobs of services, which have no splits here.
  bool other_jobs = false;
  split_rows rows;
};

split_plan plan_splits(const dataset_ptr& graph);

/// Is each split of this source one row?
bool splits_are_rows(const dataset_node& source) noexcept;

/// Input `index` of a node decides, and gives nothing itself: each run of the graph reads it whole,
/// also where the splits of other sources are shared out. The choices of choose_from_datasets.
constexpr bool is_whole(const dataset_node& node, size_t index) noexcept {
  return node.op == dataset_op::choose_from && index == 0;
}

/// Does anything at or below the node, outside of functions and of what is read whole, read from a
/// service? `named`: only from jobs that have a name, which others may read, too.
bool reads_service(const dataset_node& node, bool named);

/// How many sources the graph has, outside of function bodies and of what is read whole; one that
/// is used twice counts twice.
size_t count_sources(const dataset_node& graph);

} // namespace headrace
