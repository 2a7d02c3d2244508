#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/pipeline/graph/service_iterations.hpp"
#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/types/compression.hpp"
#include "headrace/pipeline/types/coordinated_reads.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/target_workers.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"

#include <memory>
#include <optional>

namespace headrace {

struct dataset_node;
class memory_cache;
using dataset_ptr = std::shared_ptr<const dataset_node>;

/// A traced function: parameters (one a component of `argument`) and a result that is tensors or a
/// dataset.
struct function {
  std::shared_ptr<const function_scope> scope;
  element_spec argument;
  /// Result arranged as `layout`, one expression a leaf; empty if the result is a dataset.
  structure layout;
  std::vector<expr_ptr> tensors;
  dataset_ptr dataset; ///< or null
  /// Name of a C++ function in the worker's registry instead of a traced body; then `declared` is
  /// its result.
  std::string named;
  element_spec declared;
  /// The user's word for a named function: equal rows give equal results, wherever it runs.
  bool deterministic = false;

  /// The spec of the result's tensors. @pre `!dataset`
  element_spec result() const;
};
using function_ptr = std::shared_ptr<const function>;

/// The operators. Numbers are stored in graphs: append only. What each reads of the node is said
/// here.
enum class dataset_op : uint16_t {
  // sources; their arguments are expressions: constants, or of an enclosing function's parameters
  range = 1,          ///< tensors start, stop, step (int64 scalars)
  from_tensors,       ///< tensors: one element
  from_tensor_slices, ///< tensors: their rows along axis 0
  text_lines,         ///< tensors file names (string vector); text: compression "" | GZIP | ZLIB
  tfrecord,           ///< tensors file names; text: compression
  list_files,         ///< tensors glob patterns (string vector); flag: shuffle; seed
  fixed_length,       ///< tensors file names; text: compression; layout
  csv,                ///< tensors file names; text: compression; fields; csv
  json_lines,         ///< tensors file names; text: compression; fields
  sql,                ///< tensors data source, query (string scalars); text: driver; fields
  tar_samples,        ///< tensors file names; fields: extensions; flag: skip incomplete samples
  counter,            ///< count = start; count2 = step
  random,             ///< seed; flag: another sequence in each iteration
  generator,   ///< text: name of a function of row numbers; count = rows, -1: it tells; flag:
               ///< deterministic
  elements_of, ///< tensors datasets: parameters of a function; their elements side by side
  load,        ///< tensors: shard (int64 scalar; none: all); text: folder; count = blocks; count2:
  ///< not 0: the shard is the number of a piece, for which it waits so many nanoseconds
  /// The rows of its input, a source whose rows can be read in any order, in a random order of all;
  /// seed; flag: another order in each iteration. A source itself: its splits are places in that
  /// order.
  global_shuffle = 99,
  // operators
  map = 100,   ///< function; parallel
  filter,      ///< function giving one bool scalar
  flat_map,    ///< function giving a dataset
  interleave,  ///< function giving a dataset; count = cycle length, count2 = block length; parallel
  batch,       ///< count; flag: drop_remainder
  shuffle,     ///< count = buffer size; seed; flag: reshuffle_each_iteration
  repeat,      ///< count, -1 for ever
  take,        ///< count, -1 for all
  skip,        ///< count, -1 for all
  prefetch,    ///< count = elements held ready, -1 to be tuned
  enumerate,   ///< count = start
  zip,         ///< inputs; layout of the result: tuple of theirs
  concatenate, ///< two inputs of one spec
  distribute,  ///< input runs in a service; `service`
  take_while,  ///< function giving one bool scalar
  shard,       ///< count = shards, or shard_hint; count2 = index
  unique,
  ignore_errors,
  assert_cardinality, ///< count, -1 for an infinite dataset
  scan,         ///< function of (state, element) giving (state, output); tensors: initial state
  padded_batch, ///< count; flag: drop_remainder; fields: padded shapes and padding values; tensors:
                ///< extent of axes whose padded one is unknown, or none
  window,       ///< count = size; count2 = shift; tensors: stride; flag: drop_remainder
  sample_from, ///< inputs; tensors: weights; seed; flag: stop on empty; count: 1 = new in each pass
  choose_from, ///< choices and inputs; flag: stop on empty
  options,     ///< rows of the input; `options` for all that runs with it
  sleep,       ///< count = microseconds
  group_by_window, ///< of (key, element): (key, dataset of elements); count = elements, 0: the
                   ///< input
                   ///< is (key, count, element); flag: leave smaller groups at the end out
  ragged_batch,    ///< count; flag: drop_remainder
  single_element,  ///< fails unless there is exactly one
  last_element,    ///< or tensors, if there is none
  cache,    ///< text: folder, empty: memory; count = bytes at most in memory, 0: any; `cached`
  snapshot, ///< text: folder; count = a `saved_compression`; function giving the shard, or none
};

std::string_view to_string(dataset_op op) noexcept;

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
  friend bool operator==(const service_options&, const service_options&) = default;
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
  friend bool operator==(const graph_options&, const graph_options&) = default;
};

/// An operator with its inputs: immutable, shared. `spec` and `cardinality` are inferred when it is
/// made, so a node that exists is well formed (see graph/build.hpp, which holds the checks).
struct dataset_node {
  dataset_op op = dataset_op::range;
  std::vector<dataset_ptr> inputs;
  std::vector<expr_ptr> tensors;
  function_ptr body;
  int64_t count = 0;
  int64_t count2 = 0;
  /// Parallel calls of the body; 0 = in the caller, -1 = tuned.
  int64_t parallel = 0;
  /// Do parallel calls keep the order? Unset: as the graph's options say.
  std::optional<bool> deterministic;
  bool flag = false;
  /// As the user gave it; unset stays unset in the graph, and whoever runs the graph draws it.
  std::optional<uint64_t> seed;
  std::string text;
  service_options service;
  std::vector<field_format> fields;
  record_layout layout;
  csv_format csv;
  graph_options options;
  /// What a cache in memory holds, for all iterations in this process. Not part of the graph.
  std::shared_ptr<memory_cache> cached;
  element_spec spec;
  int64_t cardinality = unknown_cardinality;
};

} // namespace headrace
