#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

/// The CRC-32C (Castagnoli) of some bytes; or of bytes with the checksum `before`, followed by
/// these.
uint32_t crc32c(const std::byte* data, size_t size, uint32_t before = 0) noexcept;

} // namespace headrace
