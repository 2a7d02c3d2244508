#include "headrace/pipeline/functions/operations/image_lines.hpp"
#include "headrace/pipeline/functions/operations/resized_rows.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// How extents that keep the aspect ratio are made integers.
enum fitting : int64_t { rounded = 1, cut = 2 };

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
    // The aspect ratio is kept: the result is the largest image that fits in the given extents.
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

/// The index, along one axis, of the pixel of the input nearest to the centre of pixel `i`.
size_t nearest_place(size_t i, size_t in, size_t out) {
  const auto scale = static_cast<float>(in) / static_cast<float>(out);
  const auto at = std::floor((static_cast<float>(i) + 0.5f) * scale);
  return std::min(static_cast<size_t>(at), in - 1);
}

void copy_nearest(std::byte* out, const std::byte* in, const images& from, const images& to,
                  size_t size) {
  const auto pixel = from.channels * size;
  std::vector<size_t> places(to.width);
  for (size_t x = 0; x < to.width; ++x) places[x] = nearest_place(x, from.width, to.width) * pixel;
  for (size_t y = 0; y < to.height; ++y) {
    const auto* line = in + nearest_place(y, from.height, to.height) * from.width * pixel;
    for (size_t x = 0; x < to.width; ++x, out += pixel) std::memcpy(out, line + places[x], pixel);
  }
}

/// Collects whole resized images to one column.
class whole_images final : public resized_rows {
public:
  explicit whole_images(const op_call& call, size_t rank)
    : nothing_(shape_of_nothing(call.node.spec, rank)), out_(call.node.spec.type, call.rows) {}

  band begin(const shape& dims) override {
    const images all{dims};
    out_.take_back(values_);
    dims_ = dims;
    values_ = all.count * all.values();
    return {reinterpret_cast<float*>(out_.extend(values_)), all.count * all.height};
  }
  void filled(size_t, size_t) override {}
  void end_row(size_t, bool has_value) override {
    if (has_value) {
      out_.end_row(dims_);
    } else {
      out_.take_back(values_);
      out_.end_row_of_nothing(nothing_);
    }
    values_ = 0;
  }
  column finish() && { return std::move(out_).finish(); }

private:
  shape nothing_, dims_;
  size_t values_ = 0; ///< the number of values of the current row
  column_builder out_;
};

status check_pixels(const images& from) {
  if (from.height == 0 || from.width == 0)
    return invalid_argument("an image without pixels cannot be resized");
  return {};
}

/// The shape of the result for an image, or a row of images, with the spec `image`; an error if it
/// cannot be resized.
result<shape> resized_shape(const op_call& call, const tensor_spec& image) {
  HEADRACE_ASSIGN(const auto to, infer_resize({{&image, 1}, call.node.attrs, call.node.spec.type}));
  HEADRACE_TRY(check_pixels(images{image.dims}));
  return to.dims;
}

/// Resizes the images of row `r`, which are in memory.
status resize_row(const op_call& call, size_t r, image_resizer& resizer, resized_rows& out) {
  const auto& in = call.inputs[0];
  const tensor_spec image{in.data->type(), in.shape_of(r)};
  HEADRACE_ASSIGN(const auto dims, resized_shape(call, image));
  const images from{image.dims}, to{dims};
  const auto line = from.width * from.channels * size_of(image.type);
  const auto* next = row_bytes(in, r);
  auto place = out.begin(dims);
  for (size_t i = 0; i < from.count; ++i) {
    resizer.begin(from, to, place, out);
    for (size_t y = 0; y < from.height; ++y, next += line) resizer.add(y, next);
    place.values += to.values();
  }
  return {};
}

/// Resizes the image of row `r` while it is decoded, so that all pixels of a JPEG need not be in
/// memory at the same time. Returns false after a failure.
bool decode_row(const op_call& call, const op_call& decoding, size_t r, image_resizer& resizer,
                resized_rows& out) {
  status unfit;
  const auto damage = decode_lines(decoding, r, [&](const image_size& size) -> line_reader {
    const tensor_spec image{decoding.node.spec.type, {size.height, size.width, size.channels}};
    const auto dims = resized_shape(call, image);
    unfit = dims.status();
    if (!dims)
      return {1, [](size_t, const std::byte*) {}};
    resizer.begin(images{image.dims}, images{*dims}, out.begin(*dims), out);
    return {resizer.kept_lines(),
            [&resizer](size_t y, const std::byte* line) { resizer.add(y, line); }};
  });
  if (!damage.ok())
    decoding.fail(r, damage);
  else if (!unfit.ok())
    call.fail(r, unfit);
  return damage.ok() && unfit.ok();
}

column resize_nearest(const op_call& call) {
  const auto size = size_of(call.node.spec.type);
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const images from{call.inputs[0].shape_of(r)}, to{dims};
    HEADRACE_TRY(check_pixels(from));
    const auto* in = row_bytes(call.inputs[0], r);
    auto* place = out.extend(static_cast<size_t>(*dims.elements()));
    for (size_t i = 0; i < from.count; ++i)
      copy_nearest(place + i * to.values() * size, in + i * from.values() * size, from, to, size);
    out.end_row(dims);
    return {};
  });
}

column run_resize(const op_call& call) {
  if (call.node.attrs.text == "nearest")
    return resize_nearest(call);
  whole_images out{call, decoder_of(call.node) ? 3 : call.inputs[0].data->rank()};
  resize_rows(call, out);
  return std::move(out).finish();
}

} // namespace

void resize_rows(const op_call& call, resized_rows& to) {
  const auto* decode = decoder_of(call.node);
  const op_call decoding{decode ? *decode : call.node, call.inputs, call.rows, call.skip,
                         call.errors};
  image_resizer resizer{call.node.attrs.text, call.node.attrs.flag,
                        decode ? decode->spec.type : call.inputs[0].data->type()};
  for (size_t r = 0; r < call.rows; ++r) {
    bool has_value = !call.skips(r);
    if (has_value && decode) {
      has_value = decode_row(call, decoding, r, resizer, to);
    } else if (has_value) {
      const auto why = resize_row(call, r, resizer, to);
      has_value = why.ok();
      if (!has_value)
        call.fail(r, why);
    }
    to.end_row(r, has_value);
  }
}

std::span<const library_function> resize_functions() {
  static constexpr library_function functions[] = {
    {expr_op::resize_image, "image.resize", 1, 1, infer_resize, run_resize},
  };
  return functions;
}

} // namespace headrace::detail
