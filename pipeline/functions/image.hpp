#pragma once

#include "headrace/pipeline/functions/expr.hpp"

#include <string>
#include <string_view>

/// Functions of images. An image is a tensor [height, width, channels]. If not stated otherwise,
/// the functions also take several images as one tensor [images, height, width, channels]. A file
/// that is damaged or has another format is an error of the row, which contains the reason.
namespace headrace::image {

// -- files ---------------------------------------------------------------------

/// The transform (inverse DCT) from a JPEG's coefficients to pixels. Both transforms use integers
/// and give the same bits on every machine; the fast one, which TensorFlow uses by default, is less
/// exact.
enum class jpeg_transform : uint8_t { accurate, fast };

/// Decodes a scalar string with a JPEG to uint8 [height, width, channels]. `channels`: 1 (grey), 3
/// (RGB) or 0 (as in the file). The extents are divided by `ratio` (1, 2, 4 or 8) and rounded up
/// while decoding; the larger the ratio, the less time decoding takes.
/// If a function uses nothing of the image except one slice (a crop) and the extents, only that
/// slice is decoded; its bits are the same as if the whole image were decoded.
expr decode_jpeg(const expr& contents, int64_t channels = 0, int64_t ratio = 1,
                 jpeg_transform transform = jpeg_transform::accurate);
/// Like `decode_jpeg`, but chooses for each image the largest ratio at which the decoded image has
/// at least the extents `height` by `width`. This is meant for images that are resized to smaller
/// extents afterwards; the resized image has other bits than if it had been decoded at ratio 1.
expr decode_jpeg_at_least(const expr& contents, int64_t height, int64_t width, int64_t channels = 0,
                          jpeg_transform transform = jpeg_transform::accurate);
/// Decodes a scalar string with a PNG. `channels`: 1 (grey), 2 (grey and alpha), 3 (RGB), 4 (RGB
/// and alpha) or 0 (as in the file). `type`: uint8, or uint16 (where values of 8 bits become
/// multiples of 257).
expr decode_png(const expr& contents, int64_t channels = 0, dtype type = dtype::uint8);
/// Decodes a scalar string with a JPEG or a PNG; its first bytes determine the format. `channels`:
/// 0, 1 or 3, for a PNG also 2 or 4. `type`: uint8; uint16, where a JPEG's values become multiples
/// of 256 (for a PNG see `decode_png`); or float32 in [0, 1].
expr decode_image(const expr& contents, int64_t channels = 0,
                  jpeg_transform transform = jpeg_transform::accurate, dtype type = dtype::uint8);
/// Encodes one uint8 image with 1 or 3 channels. `quality` is in [1, 100]. Chroma is
/// stored at half the resolution.
expr encode_jpeg(const expr& image, int64_t quality = 95);
/// Encodes one uint8 or uint16 image with 1 to 4 channels. `compression` is in [0, 9], or -1 for
/// zlib's default.
expr encode_png(const expr& image, int64_t compression = -1);

// -- extents -------------------------------------------------------------------

enum class method : uint8_t { bilinear, nearest, bicubic, area };

struct resize_options {
  /// True: the result is the largest image of the same aspect ratio that fits in the given extents.
  bool preserve_aspect_ratio = false;
  /// Widens the filter when the image becomes smaller; without effect on nearest and area.
  bool antialias = false;
};
/// Resizes to `height` by `width`. Pixels are squares whose centres are at half-integer
/// coordinates. The result is float32, but `nearest` keeps the dtype. `bicubic` uses Keys' kernel
/// with a = -1/2.
expr resize(const expr& image, int64_t height, int64_t width, method how = method::bilinear,
            const resize_options& options = {});
/// The part of the image that begins at (`top`, `left`) and has the extents `height` by `width`.
/// `top` and `left` may be computed for each element. A part that is not inside the image is an
/// error of the row. The rank must be known.
expr crop_to_bounding_box(const expr& image, const expr& top, const expr& left, int64_t height,
                          int64_t width);
/// The central part of the image, with the fraction `fraction`, in (0, 1], of its height and width.
/// The rank must be known.
expr central_crop(const expr& image, double fraction);
/// Places the image at (`top`, `left`) on a canvas of zeros of `height` by `width`.
expr pad_to_bounding_box(const expr& image, int64_t top, int64_t left, int64_t height,
                         int64_t width);
/// Crops or pads the image round its centre: an axis that is too long is cut, one that is too short
/// gets zeros on both sides.
expr resize_with_crop_or_pad(const expr& image, int64_t height, int64_t width);
/// Resizes the image to the largest extents with the same aspect ratio that fit in `height` by
/// `width` (rounded down), and pads it with zeros to `height` by `width`.
expr resize_with_pad(const expr& image, int64_t height, int64_t width,
                     method how = method::bilinear, bool antialias = false);

expr flip_left_right(const expr& image);
expr flip_up_down(const expr& image);
expr transpose(const expr& image); ///< height and width change places; the rank must be known
/// Rotates by `k` quarter turns, counter-clockwise. The rank must be known.
expr rot90(const expr& image, int64_t k = 1);

// -- values --------------------------------------------------------------------

/// Converts the values so that the full range of the image's dtype becomes the full range of
/// `type`: for integers from 0 to their maximum, for floats from 0 to 1. With `saturate`, an
/// integer result out of this range becomes the nearest integer in the range; without `saturate`, a
/// result that does not fit the dtype is an error of the row.
expr convert_image_dtype(const expr& image, dtype type, bool saturate = false);
/// One channel: 0.2989 R + 0.587 G + 0.114 B, in the same dtype.
expr rgb_to_grayscale(const expr& image);
expr grayscale_to_rgb(const expr& image); ///< the channel three times
expr rgb_to_hsv(const expr& image);       ///< float32 in [0, 1]
expr hsv_to_rgb(const expr& image);
/// (x - mean) / max(deviation, 1 / sqrt(n)) for each image of n values, in float32.
expr per_image_standardization(const expr& image);

/// The `adjust_*` functions convert the image to float32 in [0, 1], and their result back to the
/// image's dtype, saturated if that is an integer dtype. Their amounts (`delta`, `factor`, `gamma`
/// and `gain`) may be computed for each element.

expr adjust_brightness(const expr& image, const expr& delta);
/// The difference between each value and the mean of its channel is multiplied by `factor`.
expr adjust_contrast(const expr& image, const expr& factor);
expr adjust_saturation(const expr& image, const expr& factor);
expr adjust_hue(const expr& image, const expr& delta); ///< `delta`: in turns of the colour circle
expr adjust_gamma(const expr& image, const expr& gamma, const expr& gain = 1.0f);

// -- random changes ------------------------------------------------------------

/// Functions like those above, with amounts that are drawn from a seed (see random.hpp). The result
/// is the same on every machine. If not stated otherwise, one draw is used for all images of an
/// element.

/// The two flips draw separately for each image of an element, if the rank of `image` is known.
expr stateless_random_flip_left_right(const expr& image, const expr& seed);
expr stateless_random_flip_up_down(const expr& image, const expr& seed);
/// The part of `x`, a tensor of any rank, that has the extents `size` (one for each axis) and
/// begins at a uniformly drawn place.
expr stateless_random_crop(const expr& x, const std::vector<int64_t>& size, const expr& seed);
expr stateless_random_brightness(const expr& image, double max_delta, const expr& seed);
expr stateless_random_contrast(const expr& image, double lower, double upper, const expr& seed);
expr stateless_random_saturation(const expr& image, double lower, double upper, const expr& seed);
/// `max_delta` must be in [0, 0.5].
expr stateless_random_hue(const expr& image, double max_delta, const expr& seed);

} // namespace headrace::image

namespace headrace::detail {

/// Like `image::decode_image`, but errors contain the name `function`.
expr decode_image_as(std::string_view function, const expr& contents, int64_t channels,
                     image::jpeg_transform transform, dtype type);

} // namespace headrace::detail
