#pragma once

#include <cstddef>

namespace headrace::detail {

/// A graph of this many bytes or more (one with captured arrays) is sent to each process once;
/// further messages first contain only its fingerprint.
constexpr size_t large_graph = 64 << 10;

} // namespace headrace::detail
