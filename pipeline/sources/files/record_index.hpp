#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail {

/// The offsets of the records of a TFRecord file, followed by the size of the file.
///
/// The lengths of the records are read once. The offsets are kept in a hidden file with the suffix
/// `.index` beside the TFRecord file or, if that folder cannot be written to, in the user's cache
/// directory. They are used as long as the TFRecord file has the same size and time of
/// modification.
result<std::vector<uint64_t>> record_offsets(const std::string& path);
/// True for the name of such a hidden file, or of one that is being written.
bool is_record_index(std::string_view name) noexcept;

} // namespace headrace::detail
