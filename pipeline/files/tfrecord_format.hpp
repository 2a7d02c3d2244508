#pragma once

#include "headrace/runtime/base/crc32c.hpp"

#include <cstring>
#include <optional>

/// Records of TFRecord files: length (uint64), its checksum, the bytes, their checksum; all
/// little-endian.
namespace headrace::detail {

inline constexpr size_t tfrecord_header = sizeof(uint64_t) + sizeof(uint32_t);
inline constexpr size_t tfrecord_footer = sizeof(uint32_t);

/// The masked CRC of `data`: if `data` contains CRCs, a plain CRC of it detects fewer errors.
inline uint32_t tfrecord_checksum(const std::byte* data, size_t size) noexcept {
  const auto crc = crc32c(data, size);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

/// True if the bytes at `stored` are the stored form of the checksum of `data`.
inline bool tfrecord_matches(const std::byte* data, size_t size, const std::byte* stored) noexcept {
  uint32_t found;
  std::memcpy(&found, stored, sizeof found);
  return found == tfrecord_checksum(data, size);
}

/// The length in a header; nullopt if it does not match its checksum.
inline std::optional<uint64_t> tfrecord_length(const std::byte* header) noexcept {
  if (!tfrecord_matches(header, sizeof(uint64_t), header + sizeof(uint64_t)))
    return std::nullopt;
  uint64_t out;
  std::memcpy(&out, header, sizeof out);
  return out;
}

} // namespace headrace::detail
