#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/kernels/colour.hpp"
#include "headrace/pipeline/kernels/resize.hpp"

#include <cmath>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

constexpr int64_t most_pixels = int64_t{1} << 28;

status check_image(const tensor_spec& x) {
  if (x.type == dtype::string || x.type == dtype::boolean || is_complex(x.type))
    return invalid_argument(fmt::format("the image is {}; numbers are needed", to_string(x)));
  if (x.dims.has_rank() && x.dims.rank() != 3 && x.dims.rank() != 4)
    return invalid_argument(fmt::format("the image has shape {}; [height, width, channels] is "
                                        "needed, or a number of these",
                                        to_string(x.dims)));
  return {};
}

/// `image` with other extents.
shape with_extents(const shape& image, int64_t height, int64_t width) {
  if (!image.has_rank())
    return image;
  std::vector<int64_t> dims{image.dims().begin(), image.dims().end()};
  dims[dims.size() - 3] = height;
  dims[dims.size() - 2] = width;
  return shape{std::move(dims)};
}

status check_extents(const std::vector<int64_t>& dims) {
  if (dims.size() != 2 || dims[0] < 1 || dims[1] < 1 || dims[0] > most_pixels
      || dims[1] > most_pixels || dims[0] * dims[1] > most_pixels)
    return invalid_argument(fmt::format("extents {}; height and width are needed, at least 1 each "
                                        "and at most {} pixels",
                                        to_string(shape{dims}), most_pixels));
  return {};
}

/// Images of one row: how many, and the extents of each.
struct images {
  size_t count = 1, height = 0, width = 0, channels = 0;
  explicit images(const shape& row) {
    const auto at = [&](size_t from_end) {
      return static_cast<size_t>(row[row.rank() - from_end]);
    };
    count = row.rank() == 4 ? at(4) : 1;
    height = at(3);
    width = at(2);
    channels = at(1);
  }
  size_t values() const { return height * width * channels; }
};

const std::byte* row_bytes(const operand& in, size_t r) {
  return in.data->value_buffer().data()
         + static_cast<size_t>(in.first_value(r)) * size_of(in.data->type());
}

// -- resize --------------------------------------------------------------------

/// How extents that keep the aspect ratio are made integers.
enum fitting : int64_t { rounded = 1, cut = 2 };

/// The largest extents with the same aspect ratio that fit, not yet integers.
struct fitted {
  float height, width;
  fitted(int64_t height_in, int64_t width_in, int64_t most_height, int64_t most_width) {
    const auto h = static_cast<float>(height_in), w = static_cast<float>(width_in);
    const auto ratio =
      std::max(w / static_cast<float>(most_width), h / static_cast<float>(most_height));
    height = h / ratio;
    width = w / ratio;
  }
};

result<tensor_spec> infer_resize(const library_operands& in) {
  HEADRACE_TRY(check_image(in[0]));
  HEADRACE_TRY(check_extents(in.attrs.dims));
  const auto& method = in.attrs.text;
  const bool nearest = method == "nearest";
  if (!nearest && method != "bilinear" && method != "bicubic" && method != "area")
    return invalid_argument(
      fmt::format("method '{}'; there are bilinear, nearest, bicubic and area", method));
  if (!nearest && kernels::find_blend_rows(in[0].type) == nullptr)
    return invalid_argument(fmt::format("the image is {}; cast it to float32", to_string(in[0])));
  auto height = in.attrs.dims[0], width = in.attrs.dims[1];
  if (!in.attrs.axes.empty()) {
    // The aspect ratio is kept: the largest image that fits.
    const auto& dims = in[0].dims;
    const auto h = dims.has_rank() ? dims[dims.rank() - 3] : shape::unknown;
    const auto w = dims.has_rank() ? dims[dims.rank() - 2] : shape::unknown;
    if (h > 0 && w > 0 && in.attrs.axes[0] == fitting::cut) {
      const fitted whole{h, w, height, width};
      height = std::max<int64_t>(1, static_cast<int64_t>(whole.height));
      width = std::max<int64_t>(1, static_cast<int64_t>(whole.width));
    } else if (h > 0 && w > 0) {
      const auto scale = std::min(static_cast<float>(height) / static_cast<float>(h),
                                  static_cast<float>(width) / static_cast<float>(w));
      height = std::max<int64_t>(1, std::lrint(scale * static_cast<float>(h)));
      width = std::max<int64_t>(1, std::lrint(scale * static_cast<float>(w)));
    } else {
      height = width = shape::unknown;
    }
  }
  return tensor_spec{nearest ? in[0].type : dtype::float32,
                     with_extents(in[0].dims, height, width)};
}

/// Resizes images one after the other, with tables for all of one size.
class resizer {
public:
  explicit resizer(const op_call& call)
    : blend_rows_(kernels::find_blend_rows(call.inputs[0].data->type())),
      blend_pixels_(kernels::find_blend_pixels()),
      antialias_(call.node.attrs.flag),
      size_(size_of(call.inputs[0].data->type())) {
    const auto& method = call.node.attrs.text;
    kernel_ = method == "bilinear"  ? kernels::resize_kernel::triangle
              : method == "bicubic" ? kernels::resize_kernel::cubic
                                    : kernels::resize_kernel::area;
  }

  void resize(float* out, const std::byte* in, const images& from, const images& to) {
    plan(down_, in_height_, out_height_, from.height, to.height);
    plan(across_, in_width_, out_width_, from.width, to.width);
    const auto line = from.width * from.channels;
    blended_.resize(line + 1);
    rows_.resize(down_.taps);
    for (size_t y = 0; y < to.height; ++y) {
      for (size_t k = 0; k < down_.taps; ++k) rows_[k] = in + (down_.starts[y] + k) * line * size_;
      blend_rows_(blended_.data(), rows_.data(), down_.weights.data() + y * down_.taps, down_.taps,
                  line);
      blend_pixels_(out + y * to.width * to.channels, blended_.data(), across_, to.channels);
    }
  }

private:
  void plan(kernels::axis_weights& axis, size_t& known_in, size_t& known_out, size_t in,
            size_t out) const {
    if (known_in == in && known_out == out)
      return;
    axis = kernels::weights_of(kernel_, in, out, antialias_);
    known_in = in;
    known_out = out;
  }

  kernels::blend_rows_fn blend_rows_;
  kernels::blend_pixels_fn blend_pixels_;
  kernels::resize_kernel kernel_{};
  bool antialias_;
  size_t size_;
  kernels::axis_weights down_, across_;
  size_t in_height_ = 0, out_height_ = 0, in_width_ = 0, out_width_ = 0;
  std::vector<const void*> rows_;
  std::vector<float> blended_; ///< and one value that is not used
};

/// The nearest pixel's centre.
size_t nearest_place(size_t i, size_t in, size_t out) {
  const auto scale = static_cast<float>(in) / static_cast<float>(out);
  const auto at = std::floor((static_cast<float>(i) + 0.5f) * scale);
  return std::min(static_cast<size_t>(at), in - 1);
}

void resize_nearest(std::byte* out, const std::byte* in, const images& from, const images& to,
                    size_t size) {
  const auto pixel = from.channels * size;
  std::vector<size_t> places(to.width);
  for (size_t x = 0; x < to.width; ++x) places[x] = nearest_place(x, from.width, to.width) * pixel;
  for (size_t y = 0; y < to.height; ++y) {
    const auto* line = in + nearest_place(y, from.height, to.height) * from.width * pixel;
    for (size_t x = 0; x < to.width; ++x, out += pixel) std::memcpy(out, line + places[x], pixel);
  }
}

column run_resize(const op_call& call) {
  resizer resize{call};
  const bool nearest = call.node.attrs.text == "nearest";
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const images from{call.inputs[0].shape_of(r)}, to{dims};
    if (from.height == 0 || from.width == 0)
      return invalid_argument("an image without pixels cannot be resized");
    const auto* in = row_bytes(call.inputs[0], r);
    const auto in_size = size_of(call.inputs[0].data->type());
    auto* place = out.extend(static_cast<size_t>(*dims.elements()));
    for (size_t i = 0; i < from.count; ++i) {
      const auto* image = in + i * from.values() * in_size;
      if (nearest)
        resize_nearest(place + i * to.values() * in_size, image, from, to, in_size);
      else
        resize.resize(reinterpret_cast<float*>(place) + i * to.values(), image, from, to);
    }
    out.end_row(dims);
    return {};
  });
}

// -- canvas --------------------------------------------------------------------

/// If there is a second operand, it is the image before it was resized: the position of the image
/// on the canvas is computed from the extents of that one.
result<tensor_spec> infer_place(const library_operands& in) {
  if (in.size() == 2)
    HEADRACE_TRY(check_image(in[1]));
  if (in[0].type == dtype::string)
    return invalid_argument("the image is made of strings");
  if (in[0].dims.has_rank() && in[0].dims.rank() != 3 && in[0].dims.rank() != 4)
    return check_image(in[0]);
  HEADRACE_TRY(check_extents(in.attrs.dims));
  if (!in.attrs.axes.empty()
      && (in.attrs.axes.size() != 2 || in.attrs.axes[0] < 0 || in.attrs.axes[1] < 0))
    return invalid_argument(
      fmt::format("offsets {}; two are needed, none negative", to_string(shape{in.attrs.axes})));
  if (!in.attrs.axes.empty() && in[0].dims.has_rank())
    for (size_t i = 0; i < 2; ++i) {
      const auto extent = in[0].dims[in[0].dims.rank() - 3 + i];
      if (extent > 0 && extent > in.attrs.dims[i] - in.attrs.axes[i])
        return invalid_argument(fmt::format("an image of {} does not fit {} at {}",
                                            to_string(in[0].dims), to_string(shape{in.attrs.dims}),
                                            to_string(shape{in.attrs.axes})));
    }
  return tensor_spec{in[0].type, with_extents(in[0].dims, in.attrs.dims[0], in.attrs.dims[1])};
}

/// The part of an axis that is copied, and its place.
struct placing {
  size_t from = 0, to = 0, count = 0;
  placing(size_t in, size_t out, const std::vector<int64_t>& offsets, size_t axis) {
    count = std::min(in, out);
    if (!offsets.empty()) {
      to = static_cast<size_t>(offsets[axis]);
      return;
    }
    from = in > out ? (in - out) / 2 : 0;
    to = out > in ? (out - in) / 2 : 0;
  }
  /// Centres an extent that was cut to an integer.
  void centre(float in, size_t out) {
    const auto half = (static_cast<float>(out) - in) / 2;
    to = std::min(out - count, static_cast<size_t>(std::max(half, 0.0f)));
  }
};

column run_place(const op_call& call) {
  const auto& offsets = call.node.attrs.axes;
  const auto size = size_of(call.node.spec.type);
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const images from{call.inputs[0].shape_of(r)}, to{dims};
    const auto* in = row_bytes(call.inputs[0], r);
    const auto n = static_cast<size_t>(*dims.elements());
    auto* place = out.extend(n);
    std::memset(place, 0, n * size);
    placing down{from.height, to.height, offsets, 0}, across{from.width, to.width, offsets, 1};
    if (call.inputs.size() == 2) {
      const images before{call.inputs[1].shape_of(r)};
      const fitted whole{static_cast<int64_t>(before.height), static_cast<int64_t>(before.width),
                         static_cast<int64_t>(to.height), static_cast<int64_t>(to.width)};
      down.centre(whole.height, to.height);
      across.centre(whole.width, to.width);
    }
    const auto pixel = from.channels * size;
    for (size_t i = 0; i < from.count; ++i)
      for (size_t y = 0; y < down.count && across.count != 0; ++y)
        std::memcpy(place + ((i * to.height + down.to + y) * to.width + across.to) * pixel,
                    in + ((i * from.height + down.from + y) * from.width + across.from) * pixel,
                    across.count * pixel);
    out.end_row(dims);
    return {};
  });
}

// -- colours -------------------------------------------------------------------

result<tensor_spec> infer_colour(const library_operands& in) {
  if (in[0].type != dtype::float32)
    return invalid_argument(fmt::format("the image is {}; float32 is needed", to_string(in[0])));
  const auto& dims = in[0].dims;
  if (dims.has_rank()
      && (dims.rank() == 0
          || (dims[dims.rank() - 1] != 3 && dims[dims.rank() - 1] != shape::unknown)))
    return invalid_argument(
      fmt::format("the image has shape {}; 3 channels are needed last", to_string(dims)));
  if (in.size() == 2
      && (in[1].type != dtype::float32 || (in[1].dims.has_rank() && !in[1].dims.is_scalar())))
    return invalid_argument(
      fmt::format("the amount is {}; a float32 scalar is needed", to_string(in[1])));
  return in[0];
}

column run_colour(const op_call& call) {
  const auto change = kernels::find_colour(call.node.op);
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto in = row_values<float>(call.inputs[0], r);
    const auto amount = call.inputs.size() == 2 ? row_values<float>(call.inputs[1], r)[0] : 0.0f;
    change(reinterpret_cast<float*>(out.extend(in.size())), in.data(), in.size() / 3, amount);
    out.end_row(dims);
    return {};
  });
}

} // namespace

std::span<const library_function> image_functions() {
  static constexpr library_function functions[] = {
    {expr_op::resize_image, "image.resize", 1, 1, infer_resize, run_resize},
    {expr_op::place_image, "image.pad_to_bounding_box", 1, 2, infer_place, run_place},
    {expr_op::rgb_to_hsv, "image.rgb_to_hsv", 1, 1, infer_colour, run_colour},
    {expr_op::hsv_to_rgb, "image.hsv_to_rgb", 1, 1, infer_colour, run_colour},
    {expr_op::adjust_hue, "image.adjust_hue", 2, 2, infer_colour, run_colour},
    {expr_op::adjust_saturation, "image.adjust_saturation", 2, 2, infer_colour, run_colour},
  };
  return functions;
}

} // namespace headrace::detail
