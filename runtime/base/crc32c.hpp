#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

/// CRC-32C (Castagnoli) of some bytes, or of what has the checksum `before` followed by them.
uint32_t crc32c(const std::byte* data, size_t size, uint32_t before = 0) noexcept;

} // namespace headrace
