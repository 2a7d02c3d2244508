#include "headrace/runtime/journal/journal_change.hpp"

#include "headrace/runtime/base/crc32c.hpp"

#include <array>

namespace headrace::detail {

uint32_t row_checksum(journal_change::kind what, uint64_t stream, uint64_t number,
                      const buffer& bytes) noexcept {
  // The order of the bytes is fixed, so that the checksum is the same on all machines.
  std::array<std::byte, 2 * sizeof(uint64_t) + 1> place{};
  for (size_t i = 0; i < sizeof(uint64_t); ++i) {
    place[i] = static_cast<std::byte>(stream >> (8 * i));
    place[sizeof(uint64_t) + i] = static_cast<std::byte>(number >> (8 * i));
  }
  place.back() = static_cast<std::byte>(what);
  return crc32c(bytes.data(), bytes.size(), crc32c(place.data(), place.size()));
}

} // namespace headrace::detail
