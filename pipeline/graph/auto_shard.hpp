#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>

namespace headrace {

/// Which part of a dataset a worker gives under a static policy.
struct shard_place {
  int64_t shards = 1; ///< as many as the dispatcher's list has workers
  int64_t index = 0;  ///< of this worker in that list
};

/// How many elements a dataset of file names has, at most `most`. Runs the graph that it is given.
using count_names = std::function<result<int64_t>(const dataset_ptr& names, int64_t most)>;

/// The graph of which a worker gives all elements, so that the workers of a static policy together
/// give those of `graph`, each once; `graph` itself under OFF and DYNAMIC. Pure but for `count`;
/// without one, files whose number the graph does not tell count as enough.
///
/// FILE: of the files of the source nearest to the output file i is for worker i mod n. Shuffles of
/// file names stay, each within what its worker has. DATA: every worker makes all elements, and
/// keeps each n-th, before prefetch and options at the end. FILE_OR_DATA: the former, or the latter
/// where there is no source over files, or fewer files than workers. HINT: `shard(shard_hint, ...)`
/// becomes the worker's. What is divided comes in one order on all workers, whatever the graph's
/// options say.
///
/// `invalid_argument` says why a graph cannot be divided like that; a hint outside of HINT is one.
result<dataset_ptr> auto_shard(const dataset_ptr& graph, sharding_policy policy,
                               const shard_place& place, const count_names& count = {});

} // namespace headrace
