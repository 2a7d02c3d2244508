#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>

namespace headrace::detail {

/// The part of a dataset that a worker gives under a static policy.
struct shard_place {
  int64_t shards = 1; ///< the number of entries in the dispatcher's list of workers
  int64_t index = 0;  ///< the index of this worker in that list
  /// Under DATA: the number of consecutive elements that stay with one worker. In coordinated reads
  /// it is the number of consumers, so that each round consists of such elements.
  int64_t run = 1;
};

/// Counts the elements of a dataset of file names, up to `most`. It runs the graph.
using count_names = std::function<result<int64_t>(const dataset_ptr& names, int64_t most)>;

/// Returns the graph of which a worker gives all elements, so that the workers of a static policy
/// together give each element of `graph` once. Under OFF and DYNAMIC this is `graph` itself. Pure
/// except for `count`; if that is empty, files whose number does not follow from the graph are
/// assumed to be enough.
///
/// FILE: of the files of the source nearest to the output, worker i mod n reads file i. Shuffles of
/// file names are kept, each within the files of its worker. DATA: every worker makes all elements
/// and keeps each n-th run of elements, before prefetch and options at the end. FILE_OR_DATA: as
/// FILE, or as DATA if there is no source over files, or if there are fewer files than workers.
/// HINT: `shard(shard_hint, ...)` gets the worker's index. The divided elements are in the same
/// order on all workers, whatever the graph's options are.
///
/// `invalid_argument`: the graph cannot be divided like that, with the reason; one reason is a hint
/// under a policy other than HINT.
result<dataset_ptr> auto_shard(const dataset_ptr& graph, sharding_policy policy,
                               const shard_place& place, const count_names& count = {});

} // namespace headrace::detail
