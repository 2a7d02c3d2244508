#include "headrace/runtime/link/frames/frame.hpp"

#include <bit>

namespace headrace::detail {

// Integers have the same representation in memory and on the wire.
static_assert(std::endian::native == std::endian::little);

void store(const frame_prefix& x, std::byte* at) noexcept { std::memcpy(at, &x, sizeof(x)); }

frame_prefix load_prefix(const std::byte* at) noexcept {
  frame_prefix x;
  std::memcpy(&x, at, sizeof(x));
  return x;
}

void store_u64(uint64_t x, std::byte* at) noexcept { std::memcpy(at, &x, sizeof(x)); }

uint64_t load_u64(const std::byte* at) noexcept {
  uint64_t x;
  std::memcpy(&x, at, sizeof(x));
  return x;
}

std::string quoted(const std::byte* data, size_t size) {
  static constexpr char digits[] = "0123456789abcdef";
  static constexpr size_t shown = 24;
  std::string out = "\"";
  for (size_t i = 0; i < std::min(size, shown); ++i) {
    auto c = static_cast<unsigned char>(data[i]);
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
      out += static_cast<char>(c);
    } else {
      out += "\\x";
      out += digits[c >> 4];
      out += digits[c & 15];
    }
  }
  return out + (size > shown ? "\"..." : "\"");
}

} // namespace headrace::detail
