#pragma once

#include <cstddef>

namespace headrace::detail {

/// If a graph has this many bytes or more, for instance because of captured arrays, a message first
/// contains only its fingerprint. The graph is sent if the receiver answers that it has no copy.
constexpr size_t large_graph = 64 << 10;

} // namespace headrace::detail
