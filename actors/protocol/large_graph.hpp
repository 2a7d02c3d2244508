#pragma once

#include <cstddef>

namespace headrace {

/// Messages of graphs from this size on (captured arrays) are sent once to each process, which is
/// asked by their fingerprint first.
constexpr size_t large_graph = 64 << 10;

} // namespace headrace
