#pragma once

#include <cstddef>

namespace headrace::detail {

/// For a graph of this many bytes or more (one with captured arrays), a message first contains only
/// the fingerprint. The graph is sent when the receiver has answered that it does not have it.
constexpr size_t large_graph = 64 << 10;

} // namespace headrace::detail
