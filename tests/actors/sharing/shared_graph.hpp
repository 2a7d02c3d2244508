#pragma once

#include "tests/actors/sharing/given_splits.hpp"
#include "tests/actors/sharing/lazy_rows.hpp"
#include "tests/pipeline/random/generator.hpp"

#include <functional>
#include <memory>

namespace headrace::test::sharing {

using random::dice;
using random::elements;

/// A source of a graph: which elements are of which split, in each pass.
struct shared_source {
  uint32_t number = 0; ///< in depth-first order, once the graph is whole
  uint64_t splits = 0;
  std::function<elements(uint64_t split, uint64_t pass)> of;
};

/// A random graph, and what one task gives of it when it was given certain splits: computed element
/// by element, by the rules of sharing, and without anything of the engine.
struct shared_graph {
  dataset_ptr graph;
  /// Opens it as an iterator does: sources are started here, or when they are first read.
  std::function<lazy_rows(given_splits&)> open;
  std::vector<std::shared_ptr<shared_source>> sources;
  bool endless = false;
  /// How many passes are begun before an end cannot be told exactly, as blocks are read ahead: it
  /// must not be repeated.
  bool unsure = false;
  bool ahead = false; ///< reads further than it is asked for, or begins sources more than once
};

/// `depth` operators on a source, of all kinds.
shared_graph random_shared_graph(dice& die, int depth, const scratch_folder& folder);

/// The graph in one line.
std::string text_of(const dataset_node& graph);

/// Could a task leave a pass of some source before it is over?
bool may_close(const dataset_node& graph);

} // namespace headrace::test::sharing
