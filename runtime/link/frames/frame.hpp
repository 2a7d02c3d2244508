#pragma once

#include "headrace/runtime/link/link.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace headrace::detail {

/// The bytes of a link.
///
/// A link is a sequence of frames in each direction. All integers are little-endian.
///
///     frame    := prefix sizes? header? payload
///     prefix   := magic:u32 flags:u32 channel:u32 segments:u32 header_bytes:u32 reserved:u32
///                 payload_bytes:u64                                            (32 bytes)
///     sizes    := u64 for each segment          first frame of a message only
///     header   := header_bytes bytes            first frame of a message only
///     payload  := payload_bytes bytes
///
/// A message begins with a frame that has the number of its payload's segments and the size of
/// each. The payload is the segments one after the other, without padding. It may be spread over
/// this frame and *continuation* frames (flag bit 0) of the same channel, which carry no sizes and
/// no header; frames of other channels may come between them. A message is complete when all its
/// segments are complete. The next message of the channel begins only then, so a channel has at
/// most one incomplete message, and messages of one channel never overtake each other.
///
/// The first frame of each side is its *hello* (flag bit 1). It has channel 0, no payload, and as
/// its header a `LinkHello` (schemas/link.capnp). No other frame has that flag. All versions of the
/// protocol have the same prefix and hello, so that peers of different versions can read them.
///
/// A *ping* (flag bit 2) is a prefix with channel 0, no segments, no header and no payload. It
/// shows only that its sender is alive, may come between any two frames after the hello, and is not
/// sent to a peer of a minor version before 1, because such a peer would refuse it.
///
/// `reserved` is zero; unknown flags and a `reserved` that is not zero are refused.
struct frame_prefix {
  uint32_t magic = 0;
  uint32_t flags = 0;
  uint32_t channel = 0;
  uint32_t segments = 0;
  uint32_t header_bytes = 0;
  uint32_t reserved = 0;
  uint64_t payload_bytes = 0;
};
static_assert(sizeof(frame_prefix) == 32);

inline constexpr uint32_t frame_magic = 0x314b4c48; ///< the bytes "HLK1" on the wire
inline constexpr uint32_t flag_continuation = 1;
inline constexpr uint32_t flag_hello = 2;
inline constexpr uint32_t flag_ping = 4;
inline constexpr uint32_t known_flags = flag_continuation | flag_hello | flag_ping;

/// The largest payload of one frame, in bytes; a frame that announces more is refused.
inline constexpr uint64_t max_frame_payload = uint64_t{16} << 20;
/// The largest payload of a frame that headrace sends; a larger message is divided into several
/// frames. The size is small enough that frames of other channels need not wait long, and large
/// enough that the division costs almost nothing.
inline constexpr uint64_t frame_cut = uint64_t{1} << 20;
/// The largest size of a hello's header, in bytes.
inline constexpr size_t max_hello_bytes = 4096;

/// The version of the format above and of the hello.
inline constexpr uint16_t link_protocol_major = 1;
inline constexpr uint16_t link_protocol_minor = 1;
inline constexpr uint16_t first_minor_with_pings = 1;

/// @pre `at` has 32 bytes
void store(const frame_prefix& x, std::byte* at) noexcept;
frame_prefix load_prefix(const std::byte* at) noexcept;
void store_u64(uint64_t x, std::byte* at) noexcept;
uint64_t load_u64(const std::byte* at) noexcept;

/// The first bytes of something that is not a frame, quoted for an error message.
std::string quoted(const std::byte* data, size_t size);

} // namespace headrace::detail
