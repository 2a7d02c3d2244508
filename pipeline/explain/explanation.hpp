#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace headrace {

/// The bounds for a measured run of a pipeline. The run ends when one of them is reached, or at the
/// end of the dataset.
struct explain_options {
  std::chrono::nanoseconds most_time = std::chrono::seconds{2};
  uint64_t most_rows = UINT64_MAX;
};

/// The measurements of one operator.
struct operator_report {
  std::string name; ///< the operator and the parameters that distinguish it: `batch(64)`
  /// The depth in the graph: 0 for the operator whose rows are the dataset's elements, and one more
  /// for an input than for the operator that reads it.
  size_t depth = 0;
  bool in_function = false;
  uint64_t rows = 0, blocks = 0, bytes = 0, kernel_calls = 0;
  /// The time for the operator's own work, without the time of its inputs and without waits for
  /// other threads.
  std::chrono::nanoseconds busy{0};
  /// The average number of concurrent calls of the operator's function that were allowed. If the
  /// operator belongs to a dataset in the function of another operator, the number is multiplied by
  /// the `calls` of that operator.
  double calls = 1;
  /// For operators with threads of their own: the average number of blocks that were ready or being
  /// made when rows were requested; otherwise negative.
  double queue = -1;
  /// For `ignore_errors`: the number of error rows that were left out.
  uint64_t ignored = 0;
};

/// The result of a measured run of a pipeline.
struct explanation {
  std::vector<operator_report> operators; ///< depth first, each operator before its inputs
  uint64_t rows = 0, failed_rows = 0;
  std::chrono::nanoseconds took{0};
  bool ended = false; ///< the run ended at the end of the dataset, not at a bound
  status failure;     ///< the error of the first error row
  /// The operator that bounds the rate; `operators.size()` if no operator was active.
  size_t bottleneck = 0;
};

/// Runs a graph with counters until a bound or its end, and drops its rows.
result<explanation> explain(const dataset_ptr& graph, iterator_context context,
                            const explain_options& options = {});

/// A text for users: a sentence that names the bottleneck, and a table in which it is marked.
std::string to_text(const explanation& x);

} // namespace headrace
