#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <list>
#include <string>
#include <string_view>

namespace headrace::detail {

/// The graphs that a worker was sent, by fingerprint. The most recently used graphs are kept, up to
/// a number of bytes; a single graph is kept even if it has more bytes.
class graph_cache {
public:
  explicit graph_cache(size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The graph; null if it is not kept.
  dataset_ptr find(std::string_view fingerprint);
  /// `bytes`: the size of the graph's message.
  void keep(std::string fingerprint, dataset_ptr graph, size_t bytes);
  size_t bytes() const noexcept { return bytes_; }

private:
  struct entry {
    std::string fingerprint;
    dataset_ptr graph;
    size_t bytes;
  };
  std::list<entry> entries_; ///< the most recently used one is first
  size_t most_bytes_;
  size_t bytes_ = 0;
};

} // namespace headrace::detail
