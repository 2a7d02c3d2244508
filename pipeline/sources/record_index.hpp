#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::detail {

/// Where the records of a TFRecord file begin, and last the size of the file.
///
/// Looks at the length of each record once; what it finds is kept beside the file (hidden, with the
/// ending `.index`) or, where that cannot be written, in the user's cache directory, and used as
/// long as the file has the same size and time.
result<std::vector<uint64_t>> record_offsets(const std::string& path);

} // namespace headrace::detail
