#pragma once

#include "headrace/pipeline/functions/expr.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headrace {

/// How many calls of a function run at a time.
struct parallel_calls {
  static constexpr int64_t autotune = -1;
  int64_t calls = 0; ///< 0: in the caller's thread; -1: chosen while running
  /// Do they keep the order? Unset: as `graph_options::deterministic` says.
  std::optional<bool> deterministic{};
};

/// A C++ function that the process which runs the dataset knows by this name (see
/// `function_registry`, and docs/plugins.md), and what it gives.
struct named_call {
  std::string name;
  element_spec gives;
  bool deterministic = false; ///< your word: equal rows give equal results, wherever it runs
};

struct interleave_options {
  int64_t cycle_length = 16; ///< inputs open at a time, >= 1
  int64_t block_length = 1;  ///< elements taken from one before the next, >= 1
  int64_t parallel_calls = 0;
  std::optional<bool> deterministic{}; ///< as of `parallel_calls`
};

struct shuffle_options {
  std::optional<uint64_t> seed; ///< unset: another order in every program
  /// False: one order for all iterations over a dataset. They are counted with its copies; the k-th
  /// has the same order in each run of a program, if there is a seed.
  bool reshuffle_each_iteration = true;
};

struct batch_options {
  bool drop_remainder = false; ///< leave a last, smaller batch out
};

struct padded_batch_options {
  /// One a component, unknown extents for the largest of each batch; empty: those of the elements.
  std::vector<shape> padded_shapes;
  /// One scalar constant a component; empty: zeros and empty strings.
  std::vector<expr> padding_values;
  bool drop_remainder = false;
};

/// Lengths are divided into buckets: below the first boundary, from there to below the second one,
/// and so on.
struct bucket_options {
  std::vector<int64_t> boundaries;  ///< ascending
  std::vector<int64_t> batch_sizes; ///< one a bucket: one more than boundaries
  /// One a component, as for `padded_batch`.
  std::vector<shape> padded_shapes;
  std::vector<expr> padding_values;
  /// Pads to the longest length of the bucket, not of the batch; then an element too long for the
  /// last boundary is an error.
  bool pad_to_bucket_boundary = false;
  bool no_padding = false; ///< elements of a batch are of one shape without
  bool drop_remainder = false;
};

struct resample_options {
  /// Shares of the classes in the dataset; empty: estimated while reading.
  std::vector<double> initial_dist;
  std::optional<uint64_t> seed; ///< unset: other elements in every program
};

struct window_options {
  int64_t shift = 0;           ///< elements between the beginnings of windows; 0: the size
  int64_t stride = 1;          ///< elements between those of a window, >= 1
  bool drop_remainder = false; ///< leave smaller windows at the end out
};

struct sample_options {
  std::vector<double> weights;  ///< one a dataset, >= 0; empty: all alike
  std::optional<uint64_t> seed; ///< unset: another order in every program
  bool stop_on_empty = false;   ///< end when a dataset is drawn that has ended
  bool rerandomize_each_iteration = false;
};

struct choose_options {
  bool stop_on_empty = true; ///< end when a dataset is chosen that has ended, or pass it by
};

struct file_options {
  std::string compression; ///< "", "GZIP" or "ZLIB"
};

struct tar_options {
  bool skip_incomplete = false; ///< leave samples without one of the members out
};

struct cache_options {
  std::string folder;     ///< keeps elements there, for other programs too; empty: in memory
  int64_t most_bytes = 0; ///< in memory: more are an error; 0: as many as there are
};

struct save_options {
  std::string compression; ///< "", "NONE", "SNAPPY", "GZIP" or "AUTO"
};

struct load_options {
  /// Waits for elements that are not there yet: the dataset may be one that workers still write
  /// (`distribute_save`), of which each piece is read as soon as it is there, in their order; or
  /// one that nobody has begun to save. Iterations wait, too.
  bool wait = false;
  /// How long for a piece, and for the beginning.
  duration stall_timeout = std::chrono::hours{1};
  /// Ends the wait for the beginning: `cancelled`.
  std::stop_token stop;
};

struct random_options {
  std::optional<uint64_t> seed;       ///< unset: other numbers in every program
  bool reseed_each_iteration = false; ///< other numbers in each repetition
};

struct list_files_options {
  bool shuffle = true;
  std::optional<uint64_t> seed;
};

} // namespace headrace
