#pragma once

#include <string>

namespace headrace::detail {

/// The bytes of a whole file. If the file cannot be read, or not to its end, the result has those
/// bytes that could be read: none if the file is missing or is a directory.
std::string read_text(const std::string& path);

} // namespace headrace::detail
