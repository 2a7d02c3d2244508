#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::detail {

/// The offsets of the records of a TFRecord file, followed by the size of the file.
///
/// The lengths of the records are read once. The result is kept beside the file (hidden, with the
/// suffix `.index`) or, if that cannot be written, in the user's cache directory, and is used as
/// long as the file has the same size and time.
result<std::vector<uint64_t>> record_offsets(const std::string& path);

} // namespace headrace::detail
