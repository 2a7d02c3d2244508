#include "headrace/pipeline/functions/operations/images.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/kernels/colour.hpp"

#include <cstring>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

// -- canvas --------------------------------------------------------------------

/// The second operand, if there is one, is the image before it was resized. Its extents determine
/// the position of the resized image on the canvas.
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

/// For one axis: the part of the image that is copied, and its place on the canvas.
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
  /// Centres the image on the canvas. `in` is the extent of the image before its fraction was cut
  /// off.
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
    {expr_op::place_image, "image.pad_to_bounding_box", 1, 2, infer_place, run_place},
    {expr_op::rgb_to_hsv, "image.rgb_to_hsv", 1, 1, infer_colour, run_colour},
    {expr_op::hsv_to_rgb, "image.hsv_to_rgb", 1, 1, infer_colour, run_colour},
    {expr_op::adjust_hue, "image.adjust_hue", 2, 2, infer_colour, run_colour},
    {expr_op::adjust_saturation, "image.adjust_saturation", 2, 2, infer_colour, run_colour},
  };
  return functions;
}

} // namespace headrace::detail
