#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/graph/split_rows.hpp"

namespace headrace::detail {

/// One source of a graph, for the job that leases its splits.
struct source_splits {
  dataset_op op = dataset_op::range;
  /// The number of splits in one pass, if it follows from the graph. A split is one row (of range,
  /// slices, from_tensors, counter, random, global_shuffle, list_files, saved_shards, deterministic
  /// generators, and fixed-length records that are not compressed), all rows (of other generators
  /// and of a query), one saved block, or one file (of all other sources). For list_files,
  /// saved_shards and fixed-length records the number is determined only when they are read.
  std::optional<uint64_t> splits;
  /// The most passes over the source: -1: without end; nullopt: it depends on data.
  std::optional<int64_t> passes;
  /// The number of the source's group. Sources of one group are below the same zip, with only
  /// one-to-one operators between, and their splits are rows. The zip joins split i of each of
  /// them, so the same ranges of splits are leased for all of them.
  uint32_t group = 0;
  bool zipped = false; ///< a zip reads the source together with others
  /// The number of inputs that zips read before this source: a zip holds rows of each of these
  /// inputs while it reads the source.
  uint32_t behind = 0;
  /// The source fills a cache in memory; later passes are read from the cache, and are not leased.
  bool kept = false;
};

/// The sources of a graph, except those in function bodies and those that each run reads whole.
/// They are numbered in depth-first order, as the iterators number them.
struct split_plan {
  std::vector<source_splits> sources;
  uint32_t groups = 0;
  bool infinite = false; ///< the cardinality of the graph is infinite
  /// Some rows are read from other jobs by a `distribute` node; such rows have no splits.
  bool other_jobs = false;
  split_rows rows;
};

split_plan plan_splits(const dataset_ptr& graph);

/// True if the record of this source states that each split is one row (the records of list_files
/// and saved_shards do not state it).
bool splits_are_rows(const dataset_node& source) noexcept;

/// True if each run of the graph reads input `index` of a node whole, even if the splits of other
/// sources are shared with other runs. These inputs are the choices of `choose_from_datasets`,
/// which are not elements of the result, and the reader of a snapshot, which reads kept elements.
bool is_whole(const dataset_node& node, size_t index) noexcept;

/// True if the node, or a node below it, reads from a service. Nodes in functions, and nodes that
/// each run reads whole, do not count. `named`: only jobs with a name count; other trainers may
/// read such jobs, too.
bool reads_service(const dataset_node& node, bool named);

/// The number of sources in the graph, except those in function bodies and those that each run
/// reads whole. A source that is used twice counts twice.
size_t count_sources(const dataset_node& graph);

} // namespace headrace::detail
