#include "headrace/runtime/journal/log_damage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <vector>

namespace headrace::detail {

namespace {

constexpr size_t header_size = 32;
constexpr size_t frame_header_size = 24;

uint32_t big_endian(const std::byte* at) {
  uint32_t out = 0;
  for (size_t i = 0; i < sizeof out; ++i) out = out << 8 | std::to_integer<uint32_t>(at[i]);
  return out;
}

struct checksum {
  uint32_t a = 0, b = 0;

  static checksum stored(const std::byte* at) { return {big_endian(at), big_endian(at + 4)}; }
  /// This checksum, continued over `bytes`, whose number is a multiple of 8.
  checksum over(std::span<const std::byte> bytes, bool words_big_endian) const {
    auto out = *this;
    const auto word = [&](size_t i) {
      uint32_t x = big_endian(&bytes[i]);
      if (!words_big_endian)
        x = __builtin_bswap32(x);
      return x;
    };
    for (size_t i = 0; i < bytes.size(); i += 8) {
      out.a += word(i) + out.b;
      out.b += word(i + 4) + out.a;
    }
    return out;
  }
  friend bool operator==(const checksum&, const checksum&) = default;
};

class log_frames {
public:
  log_frames(const read_at& read, std::span<const std::byte, header_size> header)
    : read_(read), words_big_endian_((big_endian(header.data()) & 1) != 0) {
    page_ = big_endian(header.data() + 8);
    std::copy_n(header.data() + 16, salts_.size(), salts_.begin());
    frame_.resize(frame_header_size + page_);
  }

  size_t frame_size() const { return frame_.size(); }
  bool go_to(uint64_t i) { return read_(header_size + i * frame_size(), frame_); }
  /// True if the frame was written since the log last began anew.
  bool current() const {
    return std::equal(salts_.begin(), salts_.end(), frame_.begin() + 8) && big_endian(&frame_[0]);
  }
  bool ends_a_commit() const { return big_endian(&frame_[4]) != 0; }
  checksum stored() const { return checksum::stored(&frame_[16]); }
  /// The checksum that the frame must have if the frame before it has the checksum `before`. It
  /// does not cover the salts.
  checksum computed(const checksum& before) const {
    const std::span<const std::byte> all{frame_};
    return before.over(all.first(8), words_big_endian_)
      .over(all.subspan(frame_header_size), words_big_endian_);
  }
  bool continues(const checksum& before) const { return computed(before) == stored(); }

private:
  const read_at& read_;
  bool words_big_endian_;
  size_t page_;
  std::array<std::byte, 8> salts_{};
  std::vector<std::byte> frame_;
};

bool whole(std::span<const std::byte, header_size> header) {
  const auto magic = big_endian(header.data());
  const auto page = big_endian(header.data() + 8);
  return (magic & ~1u) == 0x377f0682 && page >= 512 && page <= 65536 && std::has_single_bit(page)
         && checksum{}.over(header.first(24), (magic & 1) != 0)
              == checksum::stored(header.data() + 24);
}

} // namespace

std::optional<std::string> damage_in_log(const read_at& read, uint64_t size) {
  std::array<std::byte, header_size> header{};
  // The header is synced before the first frame is written, so it must be whole if frames follow.
  if (size <= header_size || !read(0, header))
    return std::nullopt;
  if (!whole(header))
    return "the header of the log is not whole";
  log_frames frames{read, header};
  const auto count = (size - header_size) / frames.frame_size();
  auto before = checksum::stored(&header[24]);
  uint64_t i = 0;
  for (; i < count && frames.go_to(i) && frames.current() && frames.continues(before); ++i)
    before = frames.stored();
  const auto first_bad = i;
  bool after_commit = false;
  // If the page or the salts of the first bad frame are damaged, the next frame continues the
  // stored checksum (`before`); if that checksum is damaged, the computed one (`instead`).
  auto instead = before;
  for (; i < count && frames.go_to(i); ++i) {
    const bool current = frames.current() || (i == first_bad && frames.continues(before));
    if (!current && i != first_bad) {
      after_commit = false;
      continue;
    }
    if (i != first_bad && after_commit && (frames.continues(before) || frames.continues(instead)))
      return fmt::format("frame {} of the log is not whole, and commits follow it", first_bad);
    after_commit = frames.ends_a_commit();
    instead = frames.computed(before);
    before = frames.stored();
  }
  return std::nullopt;
}

} // namespace headrace::detail
