#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/buffer.hpp"

namespace headrace {

/// Constants in a graph may take this much; more belongs in files.
inline constexpr size_t most_graph_constants = size_t{64} << 20;
/// What a received graph may measure: constants and as much again.
inline constexpr size_t most_graph_bytes = size_t{128} << 20;

/// The graph as bytes: the canonical form of `schemas/dataset.capnp`, the same for equal graphs.
/// Fails if its constants are larger than `most_graph_constants`.
result<buffer> encode_graph(const dataset_ptr& graph);

/// SHA-256 of an encoded graph, in hexadecimal: its name by content.
std::string fingerprint(const buffer& encoded);
/// The same of a graph.
result<std::string> fingerprint(const dataset_ptr& graph);

/// Builds the graph anew through the checked makers, so that what is returned is well typed
/// whatever the bytes are; nodes that were shared are shared. Bounded in size, nodes and depth.
/// Errors name the node and what is wrong with it.
result<dataset_ptr> decode_graph(const buffer& encoded, size_t most_bytes = most_graph_bytes);

/// A spec as bytes, and back.
buffer encode_spec(const element_spec& spec);
result<element_spec> decode_spec(const buffer& encoded);

} // namespace headrace
