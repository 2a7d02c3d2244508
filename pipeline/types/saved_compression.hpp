#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// The compression of saved elements, block by block. The numbers are stored in graphs.
enum class saved_compression : uint8_t { none = 0, snappy, gzip };

/// `NONE`, `SNAPPY` or `GZIP`.
std::string_view to_string(saved_compression x) noexcept;

/// The compression with that name; none for "", snappy for `AUTO`. `invalid_argument` for other
/// names.
result<saved_compression> saved_compression_of(std::string_view name);

} // namespace headrace
