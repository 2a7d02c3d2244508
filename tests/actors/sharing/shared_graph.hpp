#pragma once

#include "tests/actors/sharing/given_splits.hpp"
#include "tests/actors/sharing/lazy_rows.hpp"
#include "tests/pipeline/random/generator.hpp"

#include <functional>
#include <memory>

namespace headrace::detail::test::sharing {

using random::dice;
using random::elements;

/// A source of a graph, with the elements of each split in each pass.
struct shared_source {
  uint32_t number = 0; ///< the place in depth-first order; set when the graph is complete
  uint64_t splits = 0;
  std::function<elements(uint64_t split, uint64_t pass)> of;
};

/// A random graph, and the elements that one task gives for certain splits. They are computed one
/// by one by the rules of sharing, without the iterators of the engine.
struct shared_graph {
  dataset_ptr graph;
  /// Opens the graph as an iterator does: sources are started here, or when they are first read.
  std::function<lazy_rows(given_splits&)> open;
  std::vector<std::shared_ptr<shared_source>> sources;
  bool endless = false;
  /// Blocks are read ahead, so it is unknown how many passes of its sources the graph has started
  /// when it ends. Such a graph must not be repeated: it is unknown which pass would be read next.
  bool unsure = false;
  /// The graph reads its input further than requested, or starts sources more than once.
  bool ahead = false;
};

/// A random graph of operators of all kinds, which are nested about `depth` deep.
shared_graph random_shared_graph(dice& die, int depth, const scratch_folder& folder);

/// The graph in one line.
std::string text_of(const dataset_node& graph);

/// True if a task could leave a pass of some source before it is over.
bool may_close(const dataset_node& graph);

} // namespace headrace::detail::test::sharing
