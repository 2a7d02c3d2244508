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

/// A function that returns memory for the values of an image. It is called with the image's size
/// when the size is known.
using image_room = std::function<std::byte*(const image_size&)>;

/// The most values of an image. A larger one is refused, because even a file of a few bytes can
/// state any size in its header.
constexpr int64_t most_image_values = int64_t{1} << 29;

/// Decodes to uint8. `channels`: 1 (grey), 3 (RGB), 0 (as in the file). Extents are divided by
/// `ratio` (1, 2, 4, 8), rounded up, while decoding. `room` is called after the header was read,
/// even if decoding fails afterwards. `fast`: the fast integer transform is used, which is less
/// exact.
status decode_jpeg(std::string_view bytes, int channels, int ratio, bool fast,
                   const image_room& room);

/// The size of the image that `decode_jpeg` would make. Only the header is read.
result<image_size> jpeg_size(std::string_view bytes, int channels, int ratio);

/// A part of an image: `size.height` by `size.width` pixels from (`top`, `left`) on, all channels.
struct image_part {
  int64_t top = 0;
  int64_t left = 0;
  image_size size;
};

/// Receives the lines of an image, from the top.
struct line_reader {
  /// The number of lines that must be readable during a call of `take`: the line that is passed,
  /// and those directly before it.
  size_t kept = 1;
  /// Called with line `y` of the image. May throw.
  std::function<void(size_t y, const std::byte* line)> take;
};

/// Decodes only `part` of a JPEG, line by line, to the same bits as if the whole image were
/// decoded. The whole file is read, so that the function fails if decoding the whole image would
/// fail; `to.take` may have been called for some lines before. @pre the part is inside the image
/// whose size `jpeg_size` returns, and has the number of channels of that image
status decode_jpeg_lines(std::string_view bytes, int ratio, bool fast, const image_part& part,
                         const line_reader& to);

/// Decodes to uint8, or uint16 if `wide`. `channels`: 1 (grey), 2 (grey and alpha), 3 (RGB), 4 (RGB
/// and alpha) or 0 (as in the file).
status decode_png(std::string_view bytes, int channels, bool wide, const image_room& room);

/// Encodes an image with 1 or 3 channels, with chroma at half the resolution. `quality`: 1 to 100.
result<std::string> encode_jpeg(const uint8_t* pixels, const image_size& size, int quality);
/// Encodes an image with 1 to 4 channels. `compression`: 0 to 9, or -1 for zlib's default.
result<std::string> encode_png(const void* pixels, const image_size& size, bool wide,
                               int compression);

} // namespace headrace::detail
