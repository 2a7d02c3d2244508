#include "headrace/actors/worker/graph_cache.hpp"

#include <algorithm>

namespace headrace::detail {

dataset_ptr graph_cache::find(std::string_view fingerprint) {
  const auto at = std::ranges::find(entries_, fingerprint, &entry::fingerprint);
  if (at == entries_.end())
    return nullptr;
  entries_.splice(entries_.begin(), entries_, at);
  return at->graph;
}

void graph_cache::keep(std::string fingerprint, dataset_ptr graph, size_t bytes) {
  if (find(fingerprint))
    return;
  entries_.push_front({std::move(fingerprint), std::move(graph), bytes});
  bytes_ += bytes;
  while (bytes_ > most_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

} // namespace headrace::detail
