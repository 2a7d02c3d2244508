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

/// The settings for running a graph. Unset options are taken from options nodes nearer to the
/// sources, or have their defaults. An option applies to the whole graph (functions excepted),
/// wherever its options node is; the value nearest to the output is used.
struct graph_options {
  /// False: parallel operators return rows in the order in which they are done. Default: true, in
  /// the order of the input.
  std::optional<bool> deterministic;
  /// Default: true; numbers of concurrent calls and buffer sizes that are not set are adapted while
  /// the graph runs. False: they are fixed; each operator without a number has `threads` calls.
  std::optional<bool> autotune;
  /// The most concurrent calls of all operators together whose number of calls is not set (of each
  /// of them if `autotune` is false), >= 1. Default: the number of the CPU's threads.
  std::optional<int64_t> threads;
  /// The most bytes that all parallel operators may hold together. It is also the most bytes that
  /// all operators which read ahead may hold together; >= 1. Default: 256 MiB.
  std::optional<int64_t> memory;
  /// How workers compress blocks for consumers that leave the choice to them. Default: `automatic`.
  std::optional<headrace::compression> compression;
  /// The seed from which operators without a seed, and functions, derive theirs. All runs of one
  /// repetition draw equal numbers; an operator that draws anew in each iteration draws others in
  /// each repetition. Default: `iterator_context::seed`, which repetitions do not share.
  std::optional<uint64_t> seed;
  friend bool operator==(const graph_options&, const graph_options&) = default;
};

} // namespace headrace

namespace headrace::detail {

class memory_cache;
struct service_session;

/// A numeric parameter of an operator. Unset: the dataset is made by a function, and the number
/// depends on the argument of that function. The number is then the last of
/// `dataset_node::tensors`, an int64 scalar (see `engine::number_of`).
using known_number = std::optional<int64_t>;
/// The seed that a user has set. If it is unset, it stays unset in the graph, and the operator's
/// seed is derived from `graph_options::seed` or, if that is unset too, from the seed of the run
/// (`iterator_context::seed`).
using optional_seed = std::optional<uint64_t>;

// -- sources; their other arguments are the expressions in `dataset_node::tensors` -------------

/// The parameters of text_lines and tfrecord; tensors: file names (a string scalar or vector). Also
/// the parameters of write_tfrecord; tensors: the name of the written file (a string scalar).
struct file_parameters {
  file_compression compression = file_compression::none;
};
/// tensors: glob patterns (a string scalar or vector).
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
  std::vector<field_format> fields; ///< the names of the fields are the extensions
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
  function_reference function; ///< the function of row numbers
  /// The number of rows; -1: the rows end when the function returns no more.
  int64_t count = -1;
  bool deterministic = false;
};
/// tensors: the shard (an int64 scalar); none: all shards.
struct load_parameters {
  std::string folder;
  int64_t blocks = 0; ///< the number of blocks in the folder; -1: not known; 0 for a piece
  /// If this is not 0, the shard is the number of a piece of a save, and the source waits at most
  /// this long until the piece is written.
  int64_t piece_wait_ns = 0;
};
/// The source returns the numbers of the shards of a saved dataset, which are determined when the
/// source is read.
struct saved_shards_parameters {
  std::string folder;
};
/// All rows of the input, in a random order. The input is a source whose rows can be read in any
/// order. The operator is a source itself: its splits are positions in the random order.
struct global_shuffle_parameters {
  optional_seed seed;
  bool reshuffle = false; ///< another order in each iteration
};

// -- operators ----------------------------------------------------------------------------------

struct interleave_parameters {
  int64_t cycle = 1;  ///< the number of datasets that are read in turn
  int64_t length = 1; ///< the number of rows of each dataset in a turn
};
/// The parameters of batch, ragged_batch and, together with further parameters, padded_batch.
struct batch_parameters {
  known_number rows = 1;
  bool drop_remainder = false;
};
/// tensors: if `extent_given`, the extent to which axes of unknown padded extent are padded; then
/// the batch size, if it is an expression.
struct padded_batch_parameters {
  batch_parameters batch;
  bool extent_given = false;
  std::vector<field_format> fields; ///< padded shapes and padding values, one for each component
};
struct shuffle_parameters {
  known_number buffer = 1; ///< the number of rows in the buffer
  optional_seed seed;
  bool reshuffle = false; ///< another order in each iteration
};
struct repeat_parameters {
  known_number count = -1; ///< -1: without end
};
struct take_parameters {
  known_number count = -1; ///< -1: all elements
};
struct skip_parameters {
  known_number count = -1; ///< -1: all elements
};
struct prefetch_parameters {
  int64_t elements = -1; ///< the number of elements held ready; -1: chosen while the graph runs
};
struct enumerate_parameters {
  int64_t start = 0;
};
/// The parameters with which `distribute` reads from a service.
struct service_options {
  std::string address; ///< dispatcher as `host:port`
  sharding_policy processing_mode = sharding_policy::off;
  std::string job_name;   ///< empty: anonymous
  std::string dataset_id; ///< the id of a registered dataset, in place of an input
  /// The most outstanding elements of all tasks together; 0: only the outstanding bytes are
  /// bounded.
  int64_t max_outstanding_requests = 0;
  headrace::compression compression = headrace::compression::automatic;
  /// How long the reader waits while there is no worker.
  int64_t worker_timeout_ns = 60'000'000'000;
  /// How long the reader waits for an element while there are workers.
  int64_t stall_timeout_ns = 3'600'000'000'000;
  target_workers targets = target_workers::automatic;
  /// The guarantee under `dynamic`.
  delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  std::optional<trainer_cache> cache; ///< unset: elements are not shared with other trainers
  /// Unset: the reader does not take part in coordinated reads.
  std::optional<coordinated_reads> rounds;
  /// The numbers of iterations, which copies of the dataset share. Not part of the graph.
  std::shared_ptr<service_iterations> iterations;
  /// The session in which the service is read; null: the session of the process. Not part of the
  /// graph.
  std::shared_ptr<service_session> session;
  friend bool operator==(const service_options&, const service_options&) = default;
};
struct shard_parameters {
  int64_t shards = 1; ///< the number, or `shard_hint`, which the service replaces under `hint`
  int64_t index = 0;
  int64_t run = 1; ///< the number of consecutive rows that go to one shard
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
  std::vector<double> weights; ///< the weights, one for each input
  optional_seed seed;
  bool stop_on_empty = false;
  bool rerandomize = false; ///< another choice in each iteration
};
/// The first input contains the choices.
struct choose_from_parameters {
  bool stop_on_empty = false;
};
struct sleep_parameters {
  known_number microseconds = 0;
};
/// The input is (key, element); the function gets (key, dataset of elements).
struct group_parameters {
  int64_t size = 0; ///< the number of elements of a group; 0: the input is (key, size, element)
  bool drop_remainder = false;
};
struct cache_parameters {
  std::string folder;     ///< empty: in memory
  int64_t most_bytes = 0; ///< the most bytes in memory; 0: unlimited
  /// The elements of a cache in memory, for all iterations in this process. Not part of the graph.
  std::shared_ptr<memory_cache> memory;
};
/// The operator returns the elements of its input, and measures the size of each element or the
/// time until the input returned it.
struct stats_parameters {
  std::string tag;    ///< the name of the measurements
  bool bytes = false; ///< true: the bytes of each element are measured; false: its time
};
/// The parameters of a snapshot. The node's function, if there is one, returns the number of the
/// shard into which an element is written. The second input, if there is one, is read when the
/// snapshot is complete.
struct snapshot_parameters {
  std::string folder;
  saved_compression compression{};
};

/// The parameters of one operator. monostate: the operator has no parameters.
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

} // namespace headrace::detail
