#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>

namespace headrace::detail {

/// The part of a dataset that a worker gives under a static policy.
struct shard_place {
  int64_t shards = 1; ///< the number of entries in the dispatcher's list of workers
  int64_t index = 0;  ///< the index of this worker in that list
  /// Under DATA: the number of consecutive elements that one worker keeps. In coordinated reads it
  /// is the number of consumers, so that each round consists of consecutive elements of `graph`.
  int64_t run = 1;
};

/// Counts the elements of a dataset of file names, up to `most`. It runs the graph.
using count_names = std::function<result<int64_t>(const dataset_ptr& names, int64_t most)>;

/// Returns the graph that one worker runs. The graphs of all n workers of a static policy together
/// give each element of `graph` once. Under OFF and DYNAMIC the result is `graph` itself. The
/// function is pure except for `count`. If `count` is empty and the number of files does not follow
/// from the graph, it is assumed that there are enough files.
///
/// FILE: on each path from the output down to a source, the first node that lists or reads files
/// (itself or in its function) is divided: worker i mod n reads file i. A shuffle of file names
/// remains, but shuffles only the names of its worker. DATA: every worker computes all elements,
/// and a shard operator keeps one of n runs of elements; it stands before prefetch and options
/// operators at the end of the graph. FILE_OR_DATA: as FILE, or as DATA if a path has no node with
/// files, if the file names of a source are computed, or if there are fewer files than workers.
/// HINT: `shard(shard_hint, ...)` gets the number of workers and the worker's index. Before
/// elements are divided, they have the same order on all workers, whatever the options are.
///
/// `invalid_argument`: the graph cannot be divided under the policy; the error contains the reason.
/// One reason is a `shard(shard_hint, ...)` under a policy other than HINT.
result<dataset_ptr> auto_shard(const dataset_ptr& graph, sharding_policy policy,
                               const shard_place& place, const count_names& count = {});

} // namespace headrace::detail
