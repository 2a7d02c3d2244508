#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/buffer.hpp"

namespace headrace::detail {

/// The most bytes of constants in a graph; larger data belongs in files.
inline constexpr size_t most_graph_constants = size_t{64} << 20;
/// The most bytes of a received graph: its constants, and as much for the rest.
inline constexpr size_t most_graph_bytes = size_t{128} << 20;

/// Encodes the graph in the canonical form of `schemas/dataset.capnp`, which is the same for equal
/// graphs. Fails if its constants are larger than `most_graph_constants`.
result<buffer> encode_graph(const dataset_ptr& graph);

/// The SHA-256 of an encoded graph, in hexadecimal.
std::string fingerprint(const buffer& encoded);
/// The fingerprint of a graph.
result<std::string> fingerprint(const dataset_ptr& graph);

/// Decodes a graph through the checked makers, so that the result is well typed, whatever the bytes
/// are. Nodes that were shared are shared again. The size, the number of nodes and the depth are
/// bounded. Errors name the node and the fault.
result<dataset_ptr> decode_graph(const buffer& encoded, size_t most_bytes = most_graph_bytes);

/// Encodes and decodes a spec.
buffer encode_spec(const element_spec& spec);
result<element_spec> decode_spec(const buffer& encoded);

} // namespace headrace::detail
