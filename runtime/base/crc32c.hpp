#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::detail {

/// The CRC-32C (Castagnoli) of `data`. If `before` is the checksum of other bytes, the result is
/// the checksum of those bytes followed by `data`.
uint32_t crc32c(const std::byte* data, size_t size, uint32_t before = 0) noexcept;

} // namespace headrace::detail
