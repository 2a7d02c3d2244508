#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::detail {

/// CRC-32C (Castagnoli) of some bytes.
uint32_t crc32c(const std::byte* data, size_t size) noexcept;

} // namespace headrace::detail
