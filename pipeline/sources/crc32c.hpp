#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::detail {

/// CRC-32C (Castagnoli) of some bytes.
uint32_t crc32c(const std::byte* data, size_t size) noexcept;

/// TFRecord's way to store a checksum of data that may itself hold checksums.
constexpr uint32_t masked(uint32_t crc) noexcept {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

} // namespace headrace::detail
