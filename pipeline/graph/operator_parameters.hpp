#pragma once

#include "headrace/pipeline/graph/service_iterations.hpp"
#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/types/compression.hpp"
#include "headrace/pipeline/types/coordinated_reads.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/file_compression.hpp"
#include "headrace/pipeline/types/function_reference.hpp"
#include "headrace/pipeline/types/saved_compression.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/target_workers.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace {

class memory_cache;
struct service_session;

/// A number of an operator. Unset: it depends on the element whose function gives the dataset, and
/// is the last of `dataset_node::tensors`, an int64 scalar (see `engine::number_of`).
using known_number = std::optional<int64_t>;
/// A seed as the user gave it; unset stays unset in the graph, and whoever runs the graph draws it.
using optional_seed = std::optional<uint64_t>;

// -- sources; what they read besides are the expressions in `dataset_node::tensors` ------------

/// text_lines and tfrecord; tensors: file names (a string vector). Also write_tfrecord; tensors:
/// the name of the file (a string scalar).
struct file_parameters {
  file_compression compression = file_compression::none;
};
/// tensors: glob patterns (a string vector).
struct list_files_parameters {
  bool shuffle = false;
  optional_seed seed;
};
/// tensors: file names.
struct fixed_length_parameters {
  file_compression compression = file_compression::none;
  record_layout layout;
};
/// tensors: file names.
struct csv_parameters {
  file_compression compression = file_compression::none;
  std::vector<field_format> fields; ///< the columns
  csv_format format;
};
/// tensors: file names.
struct json_lines_parameters {
  file_compression compression = file_compression::none;
  std::vector<field_format> fields;
};
/// tensors: data source and query (string scalars).
struct sql_parameters {
  std::string driver;
  std::vector<field_format> fields; ///< the columns
};
/// tensors: file names.
struct tar_samples_parameters {
  std::vector<field_format> fields; ///< the extensions are their names
  bool skip_incomplete = false;
};
struct counter_parameters {
  int64_t start = 0;
  int64_t step = 1;
};
struct random_parameters {
  optional_seed seed;
  bool reseed = false; ///< another sequence in each iteration
};
struct generator_parameters {
  function_reference function; ///< of row numbers
  int64_t count = -1;          ///< rows; -1: the function says when it has no more
  bool deterministic = false;
};
/// tensors: the shard (an int64 scalar), or none: all.
struct load_parameters {
  std::string folder;
  int64_t blocks = 0; ///< -1: of a shard, known where it is read
  /// Not 0: the shard is the number of a piece, for which it waits so long.
  int64_t piece_wait_ns = 0;
};
/// The numbers of the shards of a saved dataset, known where they are read.
struct saved_shards_parameters {
  std::string folder;
};
/// The rows of its input, a source whose rows can be read in any order, in a random order of all.
/// A source itself: its splits are places in that order.
struct global_shuffle_parameters {
  optional_seed seed;
  bool reshuffle = false; ///< another order in each iteration
};

// -- operators ----------------------------------------------------------------------------------

struct interleave_parameters {
  int64_t cycle = 1;  ///< datasets that are read in turn
  int64_t length = 1; ///< rows of each at a time
};
/// batch, ragged_batch and, with more, padded_batch.
struct batch_parameters {
  known_number rows = 1;
  bool drop_remainder = false;
};
/// tensors: the extent of axes whose padded one is unknown, if there is one, then the size, if it
/// is not known.
struct padded_batch_parameters {
  batch_parameters batch;
  bool extent_given = false;
  std::vector<field_format> fields; ///< padded shapes and padding values, one a component
};
struct shuffle_parameters {
  known_number buffer = 1; ///< rows
  optional_seed seed;
  bool reshuffle = false; ///< another order in each iteration
};
struct repeat_parameters {
  known_number count = -1; ///< -1: for ever
};
struct take_parameters {
  known_number count = -1; ///< -1: all
};
struct skip_parameters {
  known_number count = -1; ///< -1: all
};
struct prefetch_parameters {
  int64_t elements = -1; ///< held ready; -1: as many as is chosen when it runs
};
struct enumerate_parameters {
  int64_t start = 0;
};
/// What `distribute` needs to know to read from a service.
struct service_options {
  std::string address; ///< dispatcher as `host:port`
  sharding_policy processing_mode = sharding_policy::off;
  std::string job_name;                 ///< empty: anonymous
  std::string dataset_id;               ///< of a registered dataset, instead of an input
  int64_t max_outstanding_requests = 0; ///< elements over all tasks; 0: by bytes alone
  headrace::compression compression = headrace::compression::automatic;
  int64_t worker_timeout_ns = 60'000'000'000; ///< how long to wait while there is no worker
  /// How long to wait for an element while there are workers.
  int64_t stall_timeout_ns = 3'600'000'000'000;
  target_workers targets = target_workers::automatic;
  delivery_guarantee guarantee = delivery_guarantee::at_most_once; ///< of `dynamic`
  std::optional<trainer_cache> cache;      ///< unset: elements are not shared with other trainers
  std::optional<coordinated_reads> rounds; ///< unset: it reads for itself
  /// Copies of a dataset share it. Not part of the graph.
  std::shared_ptr<service_iterations> iterations;
  /// In which it is read; null: that of the process. Not part of the graph.
  std::shared_ptr<service_session> session;
  friend bool operator==(const service_options&, const service_options&) = default;
};
struct shard_parameters {
  int64_t shards = 1; ///< or `shard_hint`
  int64_t index = 0;
  int64_t run = 1; ///< consecutive rows that go to one shard
};
struct assert_cardinality_parameters {
  int64_t count = 0; ///< -1: infinitely many
};
struct window_parameters {
  int64_t size = 1;
  int64_t shift = 1;
  int64_t stride = 1;
  bool drop_remainder = false;
};
struct sample_from_parameters {
  std::vector<double> weights; ///< one an input
  optional_seed seed;
  bool stop_on_empty = false;
  bool rerandomize = false; ///< another choice in each iteration
};
/// The first input is the choices.
struct choose_from_parameters {
  bool stop_on_empty = false;
};
/// How a graph runs. What is unset is left to options further down, or to the default. Options are
/// for the whole graph, wherever in it they stand (functions apart); those nearest to the result
/// win.
struct graph_options {
  /// False lets parallel operators give rows as they are done. Default: true, in order.
  std::optional<bool> deterministic;
  /// False keeps calls and buffers "to be chosen" as they begin. Default: true, they adapt.
  std::optional<bool> autotune;
  /// Calls at a time in all operators whose number is chosen, >= 1. Default: the CPU's threads.
  std::optional<int64_t> threads;
  /// Bytes that such operators may hold, >= 1. Default: 256 MiB.
  std::optional<int64_t> memory;
  /// How workers pack what they send to consumers that leave it to them. Default: `automatic`.
  std::optional<headrace::compression> compression;
  /// Of what operators without a seed, and functions, draw: the same in each run, and another one
  /// in each repetition where they are drawn anew. Default: drawn for each run.
  optional_seed seed;
  friend bool operator==(const graph_options&, const graph_options&) = default;
};
struct sleep_parameters {
  known_number microseconds = 0;
};
/// Of (key, element): (key, dataset of elements).
struct group_parameters {
  int64_t size = 0; ///< elements; 0: the input is (key, size, element)
  bool drop_remainder = false;
};
struct cache_parameters {
  std::string folder;     ///< empty: in memory
  int64_t most_bytes = 0; ///< in memory; 0: any
  /// What a cache in memory holds, for all iterations in this process. Not part of the graph.
  std::shared_ptr<memory_cache> memory;
};
/// The elements of its input, of which it is measured what they took, or their size.
struct stats_parameters {
  std::string tag;    ///< the name of what is measured
  bool bytes = false; ///< of each element its bytes, else how long it took
};
/// With a function that gives the shard, or without one. The second input, if there is one, is read
/// once the snapshot is whole.
struct snapshot_parameters {
  std::string folder;
  saved_compression compression{};
};

/// What one operator reads of its node. monostate: those that have no parameters.
using operator_parameters =
  std::variant<std::monostate, file_parameters, list_files_parameters, fixed_length_parameters,
               csv_parameters, json_lines_parameters, sql_parameters, tar_samples_parameters,
               counter_parameters, random_parameters, generator_parameters, load_parameters,
               saved_shards_parameters, global_shuffle_parameters, interleave_parameters,
               batch_parameters, padded_batch_parameters, shuffle_parameters, repeat_parameters,
               take_parameters, skip_parameters, prefetch_parameters, enumerate_parameters,
               service_options, shard_parameters, assert_cardinality_parameters, window_parameters,
               sample_from_parameters, choose_from_parameters, graph_options, sleep_parameters,
               group_parameters, cache_parameters, snapshot_parameters, stats_parameters>;

} // namespace headrace
