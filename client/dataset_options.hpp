#pragma once

#include "headrace/pipeline/functions/expr.hpp"
#include "headrace/pipeline/types/file_compression.hpp"
#include "headrace/pipeline/types/saved_compression.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headrace {

/// The number of calls of a function that run at a time.
struct parallel_calls {
  static constexpr int64_t autotune = -1;
  /// 0: the function runs on the caller's thread; -1: the number is tuned while the dataset is
  /// read.
  int64_t calls = 0;
  /// True: the results have the order of the elements. Unset: see `graph_options::deterministic`.
  std::optional<bool> deterministic{};
};

/// A C++ function, which the process that runs the dataset finds by the name `name` (see
/// `function_registry` and docs/plugins.md). `gives`: the spec of its result.
struct named_call {
  std::string name;
  element_spec gives;
  /// The user's guarantee that equal rows give equal results, wherever the function runs.
  bool deterministic = false;
};

struct interleave_options {
  int64_t cycle_length = 16; ///< the number of inputs that are open at a time, >= 1
  /// The number of elements that are taken from one input in its turn, >= 1.
  int64_t block_length = 1;
  int64_t parallel_calls = 0;
  std::optional<bool> deterministic{}; ///< see `parallel_calls`
};

struct shuffle_options {
  std::optional<uint64_t> seed; ///< unset: another order in each run of a program
  /// False: all iterations over a dataset have the same order. True: each has another one; with a
  /// seed, the k-th one over a dataset and its copies has the same order in each run of a program.
  bool reshuffle_each_iteration = true;
};

struct batch_options {
  bool drop_remainder = false; ///< leaves out a last, smaller batch
};

struct padded_batch_options {
  /// One shape for each component. An unknown extent becomes the largest one in each batch. Empty:
  /// the shapes of the elements.
  std::vector<shape> padded_shapes;
  /// One scalar constant for each component; empty: zeros and empty strings.
  std::vector<expr> padding_values;
  bool drop_remainder = false;
};

/// Elements are divided into buckets by length. The first bucket has lengths below the first
/// boundary, the second one lengths from the first boundary to below the second, and so on.
struct bucket_options {
  std::vector<int64_t> boundaries;  ///< ascending
  std::vector<int64_t> batch_sizes; ///< one for each bucket: one more than there are boundaries
  /// One shape and one value for each component, as for `padded_batch`.
  std::vector<shape> padded_shapes;
  std::vector<expr> padding_values;
  /// Pads to the longest length of the bucket, not of the batch; then an element that is too long
  /// for the last boundary is an error.
  bool pad_to_bucket_boundary = false;
  bool no_padding = false; ///< the elements of a batch already have one shape
  bool drop_remainder = false;
};

struct resample_options {
  /// The proportions of the classes in the dataset; empty: they are estimated while the dataset is
  /// read.
  std::vector<double> initial_dist;
  std::optional<uint64_t> seed; ///< unset: other elements are left out in each run of a program
};

struct window_options {
  /// The distance from the first element of one window to that of the next; 0: the size.
  int64_t shift = 0;
  int64_t stride = 1;          ///< the distance between consecutive elements of a window, >= 1
  bool drop_remainder = false; ///< leaves out smaller windows at the end
};

struct sample_options {
  std::vector<double> weights;  ///< one for each dataset, >= 0; empty: equal weights
  std::optional<uint64_t> seed; ///< unset: another order in each run of a program
  bool stop_on_empty = false;   ///< the dataset ends when an input is drawn that has ended
  bool rerandomize_each_iteration = false;
};

struct choose_options {
  /// True: the dataset ends when an input is chosen that has ended; false: such choices are
  /// skipped.
  bool stop_on_empty = true;
};

struct file_options {
  file_compression compression = file_compression::none;
};

struct tar_options {
  bool skip_incomplete = false; ///< leaves out samples that lack a member
};

struct cache_options {
  /// The folder in which elements are kept, also for other programs; empty: in memory.
  std::string folder;
  int64_t most_bytes = 0; ///< the most bytes in memory; more are an error; 0: unlimited
};

struct save_options {
  saved_compression compression = saved_compression::none;
};

struct load_options {
  /// True: waits for elements that are not written yet. Workers may still be writing the dataset
  /// (`distribute_save`): iterations read each piece, in order, as soon as it is written. If the
  /// save has not begun yet, `load` waits for its beginning.
  bool wait = false;
  /// How long to wait for each piece, and for the beginning of the save.
  duration stall_timeout = std::chrono::hours{1};
  /// Ends the wait for the beginning of the save; the error is then `cancelled`.
  std::stop_token stop;
};

struct random_options {
  std::optional<uint64_t> seed;       ///< unset: other numbers in each run of a program
  bool reseed_each_iteration = false; ///< draws other numbers in each iteration and pass
};

struct list_files_options {
  bool shuffle = true;
  std::optional<uint64_t> seed;
};

} // namespace headrace
