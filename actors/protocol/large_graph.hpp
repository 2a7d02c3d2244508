#pragma once

#include <cstddef>

namespace headrace {

/// A graph of this size or more (it has captured arrays) is sent to each process once; further
/// messages have its fingerprint first.
constexpr size_t large_graph = 64 << 10;

} // namespace headrace
