#include "headrace/pipeline/functions/image.hpp"

#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/random.hpp"

#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace headrace::image {
using namespace detail;

using detail::apply;

namespace {

[[noreturn]] void fail(const char* function, const std::string& why) {
  throw error{invalid_argument(fmt::format("image.{}: {}", function, why))};
}

size_t rank_of(const char* function, const expr& image) {
  const auto& dims = image.dims();
  if (!dims.has_rank())
    fail(function, "the image's rank must be known; see ensure_shape");
  if (dims.rank() != 3 && dims.rank() != 4)
    fail(function, fmt::format("the image has shape {}; [height, width, channels] is needed, or a "
                               "number of these",
                               to_string(dims)));
  return dims.rank();
}

const char* to_text(method how) {
  switch (how) {
  case method::bilinear: return "bilinear";
  case method::nearest: return "nearest";
  case method::bicubic: return "bicubic";
  case method::area: return "area";
  }
  return "unknown";
}

expr decode(std::string_view function, const char* format, const expr& contents, int64_t channels,
            int64_t ratio, dtype type, jpeg_transform transform = jpeg_transform::accurate) {
  expr_attrs attrs;
  attrs.index = transform == jpeg_transform::fast ? 1 : 0;
  attrs.text = format;
  attrs.dims = {channels, ratio};
  return apply(expr_op::decode_image, {contents.node()}, std::move(attrs), type, function);
}

expr encode(std::string_view function, const char* format, const expr& image, int64_t level) {
  expr_attrs attrs;
  attrs.text = format;
  attrs.dims = {level};
  return apply(expr_op::encode_image, {image.node()}, std::move(attrs), dtype::int64, function);
}

expr place(const expr& image, int64_t height, int64_t width, std::vector<int64_t> offsets) {
  expr_attrs attrs;
  attrs.dims = {height, width};
  attrs.axes = std::move(offsets);
  return apply(expr_op::place_image, {image.node()}, std::move(attrs));
}

/// `keeping`: empty if the aspect ratio is not kept. Otherwise it states how the extents that keep
/// the aspect ratio are made integers: {1}: they are rounded; {2}: fractions are cut off.
expr resize_to(const expr& image, int64_t height, int64_t width, method how, bool antialias,
               std::vector<int64_t> keeping) {
  expr_attrs attrs;
  attrs.dims = {height, width};
  attrs.text = to_text(how);
  attrs.flag = antialias;
  attrs.axes = std::move(keeping);
  return apply(expr_op::resize_image, {image.node()}, std::move(attrs));
}

/// The value of dtype `type` that represents full brightness: the maximum of an integer dtype, or 1
/// for a float.
uint64_t largest(dtype type) {
  return visit_plain(type, []<class T>(T) -> uint64_t {
    if constexpr (std::is_integral_v<T>)
      return static_cast<uint64_t>(std::numeric_limits<T>::max());
    else
      return 1;
  });
}

/// A number of any type as float32.
expr amount(const expr& x) { return x.type() == dtype::float32 ? x : cast<float>(x); }

/// Applies `change` to the image as float32 in [0, 1], and converts the result to the image's
/// dtype.
template <class Change>
expr in_floats(const expr& image, Change&& change) {
  const auto changed = change(convert_image_dtype(image, dtype::float32));
  return convert_image_dtype(changed, image.type(), true);
}

expr colours(expr_op op, std::vector<expr> inputs) {
  std::vector<expr_ptr> nodes;
  for (const auto& x : inputs) nodes.push_back(x.node());
  return apply(op, std::move(nodes));
}

expr drawn(const expr& seed, double low, double high) {
  return random::stateless_uniform({}, seed, static_cast<float>(low), static_cast<float>(high));
}

void check_range(const char* function, double low, double high, double least) {
  if (!(low >= least) || !(high >= low))
    fail(function, fmt::format("amounts in [{}, {}); there are none", low, high));
}

} // namespace

expr decode_jpeg(const expr& contents, int64_t channels, int64_t ratio, jpeg_transform transform) {
  return decode("image.decode_jpeg", "jpeg", contents, channels, ratio, dtype::uint8, transform);
}
expr decode_jpeg_at_least(const expr& contents, int64_t height, int64_t width, int64_t channels,
                          jpeg_transform transform) {
  if (height < 1 || width < 1)
    fail("decode_jpeg",
         fmt::format("at least {} by {} pixels; extents are positive", height, width));
  expr_attrs attrs;
  attrs.text = "jpeg";
  attrs.dims = {channels, 1};
  attrs.axes = {height, width};
  attrs.index = transform == jpeg_transform::fast ? 1 : 0;
  return apply(expr_op::decode_image, {contents.node()}, std::move(attrs), dtype::uint8,
               "image.decode_jpeg");
}
expr decode_png(const expr& contents, int64_t channels, dtype type) {
  return decode("image.decode_png", "png", contents, channels, 1, type);
}
expr decode_image(const expr& contents, int64_t channels, jpeg_transform transform, dtype type) {
  return decode("image.decode_image", "any", contents, channels, 1, type, transform);
}
expr encode_jpeg(const expr& image, int64_t quality) {
  return encode("image.encode_jpeg", "jpeg", image, quality);
}
expr encode_png(const expr& image, int64_t compression) {
  return encode("image.encode_png", "png", image, compression);
}

expr resize(const expr& image, int64_t height, int64_t width, method how,
            const resize_options& options) {
  return resize_to(image, height, width, how, options.antialias,
                   options.preserve_aspect_ratio ? std::vector<int64_t>{1}
                                                 : std::vector<int64_t>{});
}

expr crop_to_bounding_box(const expr& image, const expr& top, const expr& left, int64_t height,
                          int64_t width) {
  const auto rank = rank_of("crop_to_bounding_box", image);
  const expr zero = constant(int64_t{0});
  std::vector<expr> begin{cast<int64_t>(top), cast<int64_t>(left), zero};
  std::vector<int64_t> sizes{height, width, -1};
  if (rank == 4) {
    begin.insert(begin.begin(), zero);
    sizes.insert(sizes.begin(), -1);
  }
  std::vector<int64_t> known{image.dims().dims().begin(), image.dims().dims().end()};
  known[rank - 3] = height;
  known[rank - 2] = width;
  return ensure_shape(slice(image, stack(begin), std::move(sizes)), shape{std::move(known)});
}

expr central_crop(const expr& image, double fraction) {
  const auto rank = rank_of("central_crop", image);
  if (!(fraction > 0) || fraction > 1)
    fail("central_crop", fmt::format("fraction {}; it is in (0, 1]", fraction));
  const auto extents = shape_of(image);
  std::vector<expr> begin(rank, constant(int64_t{0})), sizes;
  for (size_t i = 0; i < rank; ++i) sizes.push_back(extents[static_cast<int64_t>(i)]);
  for (const auto axis : {rank - 3, rank - 2}) {
    const auto extent = cast<double>(sizes[axis]);
    // If the extent is not known while tracing, TensorFlow rounds the fraction to a float32.
    const auto share = image.dims()[axis] == shape::unknown
                         ? static_cast<double>(static_cast<float>(fraction))
                         : fraction;
    begin[axis] = cast<int64_t>((extent - extent * share) / 2.0);
    sizes[axis] = sizes[axis] - begin[axis] * int64_t{2};
  }
  const auto cut = slice(image, stack(begin), stack(sizes));
  std::vector<int64_t> known{image.dims().dims().begin(), image.dims().dims().end()};
  for (const auto axis : {rank - 3, rank - 2})
    if (auto& n = known[axis]; n != shape::unknown) {
      const auto extent = static_cast<double>(n);
      n -= static_cast<int64_t>((extent - extent * fraction) / 2.0) * 2;
    }
  return ensure_shape(cut, shape{std::move(known)});
}

expr pad_to_bounding_box(const expr& image, int64_t top, int64_t left, int64_t height,
                         int64_t width) {
  return place(image, height, width, {top, left});
}
expr resize_with_crop_or_pad(const expr& image, int64_t height, int64_t width) {
  return place(image, height, width, {});
}
expr resize_with_pad(const expr& image, int64_t height, int64_t width, method how, bool antialias) {
  const auto small = resize_to(image, height, width, how, antialias, {2});
  expr_attrs attrs;
  attrs.dims = {height, width};
  return apply(expr_op::place_image, {small.node(), image.node()}, std::move(attrs));
}

expr flip_left_right(const expr& image) { return reverse(image, {-2}); }
expr flip_up_down(const expr& image) { return reverse(image, {-3}); }
expr transpose(const expr& image) {
  std::vector<int64_t> axes(rank_of("transpose", image));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  std::swap(axes[axes.size() - 2], axes[axes.size() - 3]);
  return headrace::transpose(image, std::move(axes));
}
expr rot90(const expr& image, int64_t k) {
  switch ((k % 4 + 4) % 4) {
  case 1: return headrace::image::transpose(flip_left_right(image));
  case 2: return flip_left_right(flip_up_down(image));
  case 3: return flip_left_right(headrace::image::transpose(image));
  default: return image;
  }
}

expr convert_image_dtype(const expr& image, dtype type, bool saturate) {
  const auto from = image.type();
  const bool to_float = is_floating(type), from_float = is_floating(from);
  if ((!to_float && !is_integer(type)) || (!from_float && !is_integer(from)))
    fail("convert_image_dtype", fmt::format("{} does not become {}; integers and floats do",
                                            to_string(image.spec()), to_string(type)));
  if (from == type || (to_float && from_float))
    return cast(image, type);
  if (to_float)
    return cast(image, type) * cast(constant(1.0 / static_cast<double>(largest(from))), type);
  if (from_float) {
    const auto most = static_cast<double>(largest(type));
    // As in TensorFlow, 1/2 is added to the factor: otherwise a product that is rounded down
    // slightly below an integer would be truncated to the integer before.
    const auto wide = size_of(from) == 8 ? dtype::float64 : dtype::float32;
    const auto scaled = cast(image, wide) * cast(constant(most + 0.5), wide);
    if (!saturate)
      return cast(scaled, type);
    // The largest float that fits the integer dtype after truncation: the one before `most + 1`.
    const auto limit = wide == dtype::float64
                         ? std::nextafter(most + 1, 0)
                         : double{std::nextafter(static_cast<float>(most + 1), 0.0f)};
    return cast(clip_by_value(scaled, cast(constant(0.0), wide), cast(constant(limit), wide)),
                type);
  }
  const auto in = largest(from), out = largest(type);
  if (in > out) {
    const auto steps = static_cast<int64_t>((in - out) / (out + 1) + 1);
    const auto scaled = image / cast(constant(steps), from);
    return cast(saturate ? maximum(scaled, cast(constant(0), from)) : scaled, type);
  }
  const auto steps = static_cast<int64_t>((out - in) / (in + 1) + 1);
  const auto kept = saturate ? maximum(image, cast(constant(0), from)) : image;
  return cast(kept, type) * cast(constant(steps), type);
}

expr rgb_to_grayscale(const expr& image) {
  const auto floats = convert_image_dtype(image, dtype::float32);
  const auto channel = [&](int64_t i) {
    return floats.slice({at::ellipsis(), at::range(i, i + 1)});
  };
  const auto grey = channel(0) * 0.2989f + channel(1) * 0.587f + channel(2) * 0.114f;
  return convert_image_dtype(grey, image.type(), true);
}
expr grayscale_to_rgb(const expr& image) { return concat({image, image, image}, -1); }
expr rgb_to_hsv(const expr& image) { return colours(expr_op::rgb_to_hsv, {image}); }
expr hsv_to_rgb(const expr& image) { return colours(expr_op::hsv_to_rgb, {image}); }

expr per_image_standardization(const expr& image) {
  rank_of("per_image_standardization", image);
  const auto x = cast<float>(image);
  const std::vector<int64_t> axes{-3, -2, -1};
  const auto mean = reduce_mean(x, axes, true);
  const auto deviation = sqrt(reduce_mean(square(x - mean), axes, true));
  const auto extents = shape_of(image);
  const auto values = cast<float>(extents[-3] * extents[-2] * extents[-1]);
  return (x - mean) / maximum(deviation, 1.0f / sqrt(values));
}

expr adjust_brightness(const expr& image, const expr& delta) {
  return in_floats(image, [&](const expr& x) { return x + amount(delta); });
}
expr adjust_contrast(const expr& image, const expr& factor) {
  rank_of("adjust_contrast", image);
  return in_floats(image, [&](const expr& x) {
    const auto mean = reduce_mean(x, {-3, -2}, true);
    return (x - mean) * amount(factor) + mean;
  });
}
expr adjust_saturation(const expr& image, const expr& factor) {
  return in_floats(image, [&](const expr& x) {
    return colours(expr_op::adjust_saturation, {x, amount(factor)});
  });
}
expr adjust_hue(const expr& image, const expr& delta) {
  return in_floats(image, [&](const expr& x) {
    return colours(expr_op::adjust_hue, {x, amount(delta)});
  });
}
expr adjust_gamma(const expr& image, const expr& gamma, const expr& gain) {
  return in_floats(image, [&](const expr& x) { return amount(gain) * pow(x, amount(gamma)); });
}

namespace {

expr flipped_by_chance(const expr& image, const expr& flipped, const expr& seed) {
  if (!image.dims().has_rank() || image.dims().rank() != 4)
    return where(drawn(seed, 0, 1) < 0.5f, flipped, image);
  // There is one draw for each image; the number of images may be known only at run time.
  expr_attrs attrs;
  attrs.dims = {shape::unknown, 1, 1, 1};
  const auto draws =
    apply(expr_op::random_uniform, {seed.node(), image.node()}, std::move(attrs), dtype::float32);
  return where(draws > 0.5f, flipped, image);
}

} // namespace

expr stateless_random_flip_left_right(const expr& image, const expr& seed) {
  return flipped_by_chance(image, flip_left_right(image), seed);
}
expr stateless_random_flip_up_down(const expr& image, const expr& seed) {
  return flipped_by_chance(image, flip_up_down(image), seed);
}
expr stateless_random_crop(const expr& x, const std::vector<int64_t>& size, const expr& seed) {
  const auto rank = static_cast<int64_t>(size.size());
  const auto extents =
    debugging::assert_greater_equal(cast<int32_t>(shape_of(x)), cast<int32_t>(constant(size)),
                                    "stateless_random_crop: the tensor is smaller than the crop");
  const auto room = extents - cast<int32_t>(constant(size)) + 1;
  const auto place =
    random::stateless_uniform({rank}, seed, int32_t{0}, std::numeric_limits<int32_t>::max()) % room;
  return slice(x, place, size);
}
expr stateless_random_brightness(const expr& image, double max_delta, const expr& seed) {
  check_range("stateless_random_brightness", 0, max_delta, 0);
  return adjust_brightness(image, drawn(seed, -max_delta, max_delta));
}
expr stateless_random_contrast(const expr& image, double lower, double upper, const expr& seed) {
  check_range("stateless_random_contrast", lower, upper, 0);
  return adjust_contrast(image, drawn(seed, lower, upper));
}
expr stateless_random_saturation(const expr& image, double lower, double upper, const expr& seed) {
  check_range("stateless_random_saturation", lower, upper, 0);
  return adjust_saturation(image, drawn(seed, lower, upper));
}
expr stateless_random_hue(const expr& image, double max_delta, const expr& seed) {
  check_range("stateless_random_hue", 0, max_delta, 0);
  if (max_delta > 0.5)
    fail("stateless_random_hue", fmt::format("max_delta {}; it is in [0, 0.5]", max_delta));
  return adjust_hue(image, drawn(seed, -max_delta, max_delta));
}

} // namespace headrace::image

namespace headrace::detail {

expr decode_image_as(std::string_view function, const expr& contents, int64_t channels,
                     image::jpeg_transform transform, dtype type) {
  return image::decode(function, "any", contents, channels, 1, type, transform);
}

} // namespace headrace::detail
