#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace headrace {

/// How long a pipeline is run to look at it: until one of these, or its end.
struct explain_options {
  std::chrono::nanoseconds most_time = std::chrono::seconds{2};
  uint64_t most_rows = UINT64_MAX;
};

/// What one operator did.
struct operator_report {
  std::string name; ///< operator and what tells it apart: `batch(64)`
  size_t depth = 0; ///< 0: gives the dataset's elements; inputs are one deeper than their users
  bool in_function = false;
  uint64_t rows = 0, blocks = 0, bytes = 0, kernel_calls = 0;
  /// Its own work, without its inputs' and without waiting for other threads.
  std::chrono::nanoseconds busy{0};
  /// At a time, of its function, on average: those that were chosen, not those that might have
  /// been. Times those of the function that it is in.
  double calls = 1;
  /// Blocks that were ready or in work when it was asked for rows, on average; of operators with
  /// threads of their own, else negative.
  double queue = -1;
  /// Of `ignore_errors`: elements that failed and were left out.
  uint64_t ignored = 0;
};

/// How a pipeline ran.
struct explanation {
  std::vector<operator_report> operators; ///< depth first, users before their inputs
  uint64_t rows = 0, failed_rows = 0;
  std::chrono::nanoseconds took{0};
  bool ended = false; ///< at the end of the dataset, not at a bound
  status failure;     ///< of the first row that failed
  /// The operator that bounds the rate; `operators.size()` if none did anything.
  size_t bottleneck = 0;
};

/// Runs a graph for a while, with counters, and throws its rows away.
result<explanation> explain(const dataset_ptr& graph, iterator_context context,
                            const explain_options& options = {});

/// For people: a table and a sentence that names the bottleneck.
std::string to_text(const explanation& x);

} // namespace headrace
