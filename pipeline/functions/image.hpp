#pragma once

#include "headrace/pipeline/functions/expr.hpp"

#include <string>

/// Images: tensors [height, width, channels], where not said otherwise also a number of these as
/// [images, height, width, channels]. Files that are damaged or of another format are errors of the
/// row, with the reason.
namespace headrace::image {

// -- files ---------------------------------------------------------------------

/// How a JPEG's blocks become pixels. Both are integer transforms with the same bits everywhere;
/// the fast one, which TensorFlow uses by default, is less exact.
enum class jpeg_transform : uint8_t { accurate, fast };

/// A scalar string with a JPEG becomes uint8 [height, width, channels]. `channels`: 1 (grey), 3
/// (RGB) or 0 (as in the file). `ratio` 2, 4 or 8 divides the extents (rounded up) while decoding,
/// at a fraction of the cost.
/// If a function uses of the image only one slice (a crop) and the extents, only that slice is
/// decoded, to the same bits.
expr decode_jpeg(const expr& contents, int64_t channels = 0, int64_t ratio = 1,
                 jpeg_transform transform = jpeg_transform::accurate);
/// The same with the largest ratio, for each image, at which it is still at least `height` by
/// `width`, for images that are then resized to less. The resized image has other bits than if it
/// had been decoded at ratio 1.
expr decode_jpeg_at_least(const expr& contents, int64_t height, int64_t width, int64_t channels = 0,
                          jpeg_transform transform = jpeg_transform::accurate);
/// Decodes a scalar string with a PNG. `channels`: 1 (grey), 2 (grey and alpha), 3 (RGB), 4 (RGB
/// and alpha) or 0 (as in the file). `type`: uint8, or uint16 (where values of 8 bits become
/// multiples of 257).
expr decode_png(const expr& contents, int64_t channels = 0, dtype type = dtype::uint8);
/// Decodes a JPEG or a PNG, which the first bytes determine. `channels`: 0, 1 or 3, of a PNG also 2
/// or 4. `type`: uint8; uint16, as `decode_png` gives it, where a JPEG's values become multiples of
/// 256; float32 in [0, 1].
expr decode_image(const expr& contents, int64_t channels = 0,
                  jpeg_transform transform = jpeg_transform::accurate, dtype type = dtype::uint8);
/// uint8 with 1 or 3 channels; `quality` in [1, 100]. Chroma has half the resolution.
expr encode_jpeg(const expr& image, int64_t quality = 95);
/// uint8 or uint16 with 1 to 4 channels; `compression` in [0, 9], -1: zlib's default.
expr encode_png(const expr& image, int64_t compression = -1);

// -- extents -------------------------------------------------------------------

enum class method : uint8_t { bilinear, nearest, bicubic, area };

struct resize_options {
  /// True: the result is the largest image of the same aspect ratio that fits in the given extents.
  bool preserve_aspect_ratio = false;
  /// Widens the filter when the image becomes smaller; without effect on nearest and area.
  bool antialias = false;
};
/// Resizes to `height` by `width`. Pixels are squares, their centres at half-integer coordinates.
/// The result is float32; nearest keeps the dtype. Bicubic is Keys' with a = -1/2.
expr resize(const expr& image, int64_t height, int64_t width, method how = method::bilinear,
            const resize_options& options = {});
/// The part of `height` by `width` from (`top`, `left`) on; these two may be computed for each
/// element. A part that is not inside the image is an error of the row. The rank must be known.
expr crop_to_bounding_box(const expr& image, const expr& top, const expr& left, int64_t height,
                          int64_t width);
/// The middle part: `fraction` in (0, 1] along both axes. The rank must be known.
expr central_crop(const expr& image, double fraction);
/// Places the image at (`top`, `left`) on a canvas of zeros of `height` by `width`.
expr pad_to_bounding_box(const expr& image, int64_t top, int64_t left, int64_t height,
                         int64_t width);
/// Crops or pads the image round its centre: an axis that is too long is cut, one that is too short
/// gets zeros on both sides.
expr resize_with_crop_or_pad(const expr& image, int64_t height, int64_t width);
/// As `resize` within these extents, with the aspect ratio kept (the resized extents are rounded
/// down); the rest is zeros.
expr resize_with_pad(const expr& image, int64_t height, int64_t width,
                     method how = method::bilinear, bool antialias = false);

expr flip_left_right(const expr& image);
expr flip_up_down(const expr& image);
expr transpose(const expr& image); ///< height and width change places; the rank must be known
/// Rotates by `k` quarter turns, counter-clockwise. The rank must be known.
expr rot90(const expr& image, int64_t k = 1);

// -- values --------------------------------------------------------------------

/// Converts so that the full range of one dtype becomes that of the other: integers from 0 to their
/// maximum, floats from 0 to 1. With `saturate`, a resulting integer out of that range becomes the
/// nearest one in it; without, one that does not fit the dtype is an error of the row.
expr convert_image_dtype(const expr& image, dtype type, bool saturate = false);
/// One channel: 0.2989 R + 0.587 G + 0.114 B, in the same dtype.
expr rgb_to_grayscale(const expr& image);
expr grayscale_to_rgb(const expr& image); ///< the channel three times
expr rgb_to_hsv(const expr& image);       ///< float32 in [0, 1]
expr hsv_to_rgb(const expr& image);
/// (x - mean) / max(deviation, 1 / sqrt(n)) for each image of n values, in float32.
expr per_image_standardization(const expr& image);

/// The functions below compute in float32 in [0, 1] and give the image's dtype back, saturated if
/// it is an integer. Amounts may be computed for each element.

expr adjust_brightness(const expr& image, const expr& delta);
/// Each channel is scaled by `factor` round its mean.
expr adjust_contrast(const expr& image, const expr& factor);
expr adjust_saturation(const expr& image, const expr& factor);
expr adjust_hue(const expr& image, const expr& delta); ///< in turns: 1 is once round
expr adjust_gamma(const expr& image, const expr& gamma, const expr& gain = 1.0f);

// -- by chance -----------------------------------------------------------------

/// The functions above with amounts that are drawn by a seed (see random.hpp), with the same result
/// on every machine. Where not said otherwise, one draw serves all images of an element.

/// Both flips draw for each of several images separately, provided that the rank is known.
expr stateless_random_flip_left_right(const expr& image, const expr& seed);
expr stateless_random_flip_up_down(const expr& image, const expr& seed);
/// A part with the extents `size` (one an axis) at a uniformly drawn place; of tensors of any rank.
expr stateless_random_crop(const expr& x, const std::vector<int64_t>& size, const expr& seed);
expr stateless_random_brightness(const expr& image, double max_delta, const expr& seed);
expr stateless_random_contrast(const expr& image, double lower, double upper, const expr& seed);
expr stateless_random_saturation(const expr& image, double lower, double upper, const expr& seed);
/// `max_delta` in [0, 0.5].
expr stateless_random_hue(const expr& image, double max_delta, const expr& seed);

} // namespace headrace::image
