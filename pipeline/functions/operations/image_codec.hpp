#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>
#include <string_view>

/// JPEG and PNG in memory. Errors describe what is wrong with the file.
namespace headrace::detail {

struct image_size {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
};

/// Returns memory for an image's values once its size is known.
using image_room = std::function<std::byte*(const image_size&)>;

/// An image of more values than this is refused: a few bytes can claim any size.
constexpr int64_t most_image_values = int64_t{1} << 29;

/// Decodes to uint8. `channels`: 1 (grey), 3 (RGB), 0 (as in the file). Extents are divided by
/// `ratio` (1, 2, 4, 8), rounded up, while decoding. `room` is called once the header is read, also
/// if decoding fails then.
/// `fast`: by the fast integer transform, which is less exact.
status decode_jpeg(std::string_view bytes, int channels, int ratio, bool fast,
                   const image_room& room);

/// The extents that `decode_jpeg` would give. Only the header is read.
result<image_size> jpeg_size(std::string_view bytes, int channels, int ratio);

/// A part of an image: `size.height` by `size.width` pixels from (`top`, `left`) on, all channels.
struct image_part {
  int64_t top = 0;
  int64_t left = 0;
  image_size size;
};

/// Takes the lines of an image, from the top.
struct line_reader {
  /// The number of newest lines, the last one included, that must be readable in `take`.
  size_t kept = 1;
  /// Called with line `y` of the image. May throw.
  std::function<void(size_t y, const std::byte* line)> take;
};

/// Decodes that part of a JPEG alone, to the bits that it has in the whole image, line by line. The
/// whole file is read, so that it fails where decoding the whole image does; some lines may have
/// been taken then.
/// @pre the part is within `jpeg_size`, and `size.channels` is that of it
status decode_jpeg_lines(std::string_view bytes, int ratio, bool fast, const image_part& part,
                         const line_reader& to);

/// Decodes to uint8, or uint16 if `wide`. `channels`: 1, 2 (with alpha), 3, 4 or 0.
status decode_png(std::string_view bytes, int channels, bool wide, const image_room& room);

/// Encodes `size.channels` = 1 or 3 with chroma at half resolution. `quality`: 1 to 100.
result<std::string> encode_jpeg(const uint8_t* pixels, const image_size& size, int quality);
/// Encodes 1 to 4 channels. `compression`: 0 to 9, or -1 for zlib's default.
result<std::string> encode_png(const void* pixels, const image_size& size, bool wide,
                               int compression);

} // namespace headrace::detail
