#include "headrace/runtime/base/crc32c.hpp"

#include <algorithm>
#include <isa-l/crc.h>

namespace headrace::detail {

uint32_t crc32c(const std::byte* data, size_t size, uint32_t before) noexcept {
  uint32_t crc = ~before;
  while (size != 0) { // the library takes the size as an int
    const auto part = std::min<size_t>(size, size_t{1} << 30);
    auto* bytes = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(data));
    crc = crc32_iscsi(bytes, static_cast<int>(part), crc);
    data += part;
    size -= part;
  }
  return ~crc;
}

} // namespace headrace::detail
