#include "headrace/pipeline/functions/operations/image_lines.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace headrace::detail {

namespace {

// -- decode_image -----------------------------------------------------------------------------
//
// Inputs: the file; if only a part of the image is decoded, also one or two vectors of three
// integers, as for `slice`: the place where the part begins, and its extents if these are computed.
// `attrs.text`: jpeg, png, or any; `attrs.dims`: the channels (0: as in the file), the ratio, and
// for a part its three extents (-1: the rest of the axis); `attrs.flag`: true if the result is only
// the extents of the image, as `shape_of` returns them; `attrs.axes`: empty, or a height and width:
// each JPEG then gets the largest ratio that leaves it at least these extents; `attrs.index`: 1 for
// the fast transform. The dtype of pixels is uint8; for png and any it may also be uint16, and for
// any it may also be float32 in [0, 1].

status check_part(const library_operands& in) {
  if (in.attrs.dims.size() != 5)
    return invalid_argument("a part has three extents");
  for (size_t i = 1; i < in.size(); ++i)
    if (!is_integer(in[i].type)
        || (in[i].dims.has_rank()
            && (in[i].dims.rank() != 1 || (in[i].dims[0] != 3 && in[i].dims[0] != shape::unknown))))
      return invalid_argument(
        fmt::format("a part's place and extents are {}; vectors of three integers are needed",
                    to_string(in[i])));
  for (size_t i = 2; i < 5; ++i)
    if (in.attrs.dims[i] < -1)
      return invalid_argument(fmt::format("a part's extent is {}", in.attrs.dims[i]));
  return {};
}

result<tensor_spec> infer_decode(const library_operands& in) {
  if (in[0].type != dtype::string || (in[0].dims.has_rank() && !in[0].dims.is_scalar()))
    return invalid_argument(
      fmt::format("the file is {}; a scalar string is needed", to_string(in[0])));
  const bool part = in.size() > 1;
  if (part)
    HEADRACE_TRY(check_part(in));
  else if (in.attrs.dims.size() != 2)
    return invalid_argument("channels and ratio are needed");
  const auto channels = in.attrs.dims[0], ratio = in.attrs.dims[1];
  const auto& format = in.attrs.text;
  if (format != "jpeg" && format != "png" && format != "any")
    return invalid_argument(fmt::format("format '{}'; there are jpeg, png and any", format));
  const bool png = format == "png", jpeg = format == "jpeg";
  if (channels != 0 && channels != 1 && channels != 3 && (jpeg || (channels != 2 && channels != 4)))
    return invalid_argument(fmt::format("{} channels; there can be 0 (as in the file), 1, {}",
                                        channels, jpeg ? "or 3" : "2, 3 or 4"));
  if (ratio != 1 && (format != "jpeg" || (ratio != 2 && ratio != 4 && ratio != 8)))
    return invalid_argument(
      fmt::format("ratio {}; JPEGs can be divided by 1, 2, 4 or 8 while decoding", ratio));
  if (in.attrs.index != 0 && (in.attrs.index != 1 || png))
    return invalid_argument("there are two transforms, of JPEGs");
  const auto& least = in.attrs.axes;
  if (!least.empty() && (least.size() != 2 || least[0] < 1 || least[1] < 1 || format != "jpeg"))
    return invalid_argument("the least extents are two positive numbers, of a JPEG");
  if (in.attrs.flag)
    return part ? result<tensor_spec>{invalid_argument("the extents of a part are not asked for")}
                : tensor_spec{dtype::int64, {3}};
  if (in.type != dtype::uint8 && (jpeg || in.type != dtype::uint16)
      && (jpeg || png || in.type != dtype::float32))
    return invalid_argument(fmt::format("{} was asked for; there is uint8{}", to_string(in.type),
                                        jpeg  ? ""
                                        : png ? " and uint16"
                                              : ", uint16 and float32"));
  if (part)
    return tensor_spec{in.type, {in.attrs.dims[2], in.attrs.dims[3], in.attrs.dims[4]}};
  const auto unknown = shape::unknown;
  return tensor_spec{in.type, {unknown, unknown, channels == 0 ? unknown : channels}};
}

constexpr std::string_view jpeg_start{"\xff\xd8\xff", 3};
constexpr std::string_view png_start{"\x89PNG\r\n\x1a\n", 8};

std::string first_bytes(std::string_view bytes) {
  std::string out;
  for (auto c : bytes.substr(0, 4))
    out += fmt::format("{}{:02x}", out.empty() ? "" : " ", static_cast<unsigned char>(c));
  return out;
}

/// True if the file is a JPEG, false if it is a PNG. An error if the file is neither, or does not
/// have the format that `attrs.text` names.
result<bool> is_jpeg(std::string_view bytes, const expr_attrs& attrs) {
  const bool jpeg = bytes.starts_with(jpeg_start), png = bytes.starts_with(png_start);
  if (attrs.text == "jpeg" ? !jpeg : attrs.text == "png" ? !png : !jpeg && !png)
    return invalid_argument(fmt::format("{} bytes that begin with [{}] are no {}", bytes.size(),
                                        first_bytes(bytes),
                                        attrs.text == "any"    ? "JPEG or PNG"
                                        : attrs.text == "jpeg" ? "JPEG"
                                                               : "PNG"));
  return jpeg;
}

bool is_fast(const op_call& call) { return call.node.attrs.index == 1; }
int channels_of(const op_call& call) { return static_cast<int>(call.node.attrs.dims[0]); }

/// The number by which the extents of a JPEG are divided.
result<int> ratio_of(std::string_view bytes, const op_call& call) {
  const auto& least = call.node.attrs.axes;
  if (least.empty())
    return static_cast<int>(call.node.attrs.dims[1]);
  HEADRACE_ASSIGN(const auto whole, jpeg_size(bytes, channels_of(call), 1));
  int ratio = 1;
  while (ratio < 8 && (whole.height + 2 * ratio - 1) / (2 * ratio) >= least[0]
         && (whole.width + 2 * ratio - 1) / (2 * ratio) >= least[1])
    ratio *= 2;
  return ratio;
}

status check_jpeg_channels(const op_call& call) {
  if (const auto channels = channels_of(call); channels == 2 || channels == 4)
    return invalid_argument(
      fmt::format("{} channels of a JPEG; there can be 0 (as in the file), 1 or 3", channels));
  return {};
}

/// An image in memory.
struct decoded {
  image_size size;
  std::vector<std::byte> pixels;

  size_t values() const { return static_cast<size_t>(size.height * size.width * size.channels); }
  image_room room(size_t bytes_each) {
    return [this, bytes_each](const image_size& found) {
      size = found;
      pixels.resize(values() * bytes_each);
      return pixels.data();
    };
  }
};

/// Converts the decoded values of a file, uint8 of a JPEG or uint16 of a PNG, to `type`, as
/// `convert_image_dtype` does.
void convert(const decoded& from, bool jpeg, dtype type, std::byte* to) {
  const auto each = [&]<class In, class Out>(In, Out, auto&& change) {
    const auto* in = reinterpret_cast<const In*>(from.pixels.data());
    std::transform(in, in + from.values(), reinterpret_cast<Out*>(to), change);
  };
  if (!jpeg)
    each(uint16_t{}, float{}, [](uint16_t x) { return static_cast<float>(x) * (1.0F / 65535); });
  else if (type == dtype::uint16)
    each(uint8_t{}, uint16_t{}, [](uint8_t x) { return static_cast<uint16_t>(x << 8); });
  else
    each(uint8_t{}, float{}, [](uint8_t x) { return static_cast<float>(x) * (1.0F / 255); });
}

status decode(std::string_view bytes, const op_call& call, const image_room& room) {
  HEADRACE_ASSIGN(const auto jpeg, is_jpeg(bytes, call.node.attrs));
  const auto type = call.node.spec.type;
  const auto plain = [&](const image_room& to) -> status {
    if (!jpeg)
      return decode_png(bytes, channels_of(call), type != dtype::uint8, to);
    HEADRACE_TRY(check_jpeg_channels(call));
    HEADRACE_ASSIGN(const auto ratio, ratio_of(bytes, call));
    return decode_jpeg(bytes, channels_of(call), ratio, is_fast(call), to);
  };
  if (type == dtype::uint8 || (type == dtype::uint16 && !jpeg))
    return plain(room);
  decoded whole;
  HEADRACE_TRY(plain(whole.room(jpeg ? 1 : 2)));
  convert(whole, jpeg, type, room(whole.size));
  return {};
}

result<decoded> decode_whole(std::string_view bytes, const op_call& call) {
  decoded out;
  HEADRACE_TRY(decode(bytes, call, out.room(size_of(call.node.spec.type))));
  return out;
}

/// A part of an image: the place where it begins along each axis, and its extents.
struct part_place {
  std::array<int64_t, 3> begin, dims;
};

result<part_place> place_of_part(const op_call& call, size_t r, const image_size& whole) {
  const std::array<int64_t, 3> row{whole.height, whole.width, whole.channels};
  part_place out{};
  for (size_t i = 0; i < 3; ++i) {
    const auto begin = integer_at(call.inputs[1], r, i);
    const auto wanted =
      call.inputs.size() == 3 ? integer_at(call.inputs[2], r, i) : call.node.attrs.dims[i + 2];
    const auto room = begin < 0 || begin > row[i] ? int64_t{-1} : row[i] - begin;
    out.begin[i] = begin;
    out.dims[i] = wanted == -1 ? room : wanted;
    if (room < 0 || out.dims[i] < 0 || out.dims[i] > room)
      return invalid_argument(fmt::format("{} values from {} on along axis {} of [{}, {}, {}]",
                                          wanted, begin, i, row[0], row[1], row[2]));
  }
  return out;
}

/// The values of a part of an image.
std::vector<std::byte> values_of_part(const decoded& from, const part_place& part, size_t size) {
  std::vector<std::byte> out;
  const auto values = static_cast<size_t>(part.dims[2]) * size;
  out.reserve(static_cast<size_t>(part.dims[0] * part.dims[1]) * values);
  for (int64_t y = 0; y < part.dims[0]; ++y)
    for (int64_t x = 0; x < part.dims[1]; ++x) {
      const auto pixel = (part.begin[0] + y) * from.size.width + part.begin[1] + x;
      const auto* value =
        from.pixels.data() + static_cast<size_t>(pixel * from.size.channels + part.begin[2]) * size;
      out.insert(out.end(), value, value + values);
    }
  return out;
}

/// The requested part of the JPEG of row `r`; nullopt if this part cannot be decoded line by line,
/// because it has no pixels or not all channels of the image.
result<std::optional<image_part>> lines_of(std::string_view bytes, const op_call& call, size_t r,
                                           int ratio) {
  HEADRACE_ASSIGN(const auto whole, jpeg_size(bytes, channels_of(call), ratio));
  if (call.inputs.size() == 1)
    return std::optional{image_part{0, 0, whole}};
  HEADRACE_ASSIGN(const auto part, place_of_part(call, r, whole));
  if (part.dims[0] * part.dims[1] == 0 || part.dims[2] != whole.channels)
    return std::optional<image_part>{};
  return std::optional{
    image_part{part.begin[0], part.begin[1], {part.dims[0], part.dims[1], part.dims[2]}}};
}

} // namespace

status decode_lines(const op_call& call, size_t r,
                    const std::function<line_reader(const image_size&)>& begin) {
  const auto& in = call.inputs[0];
  const auto bytes = in.data->string(static_cast<size_t>(in.first_value(r)));
  HEADRACE_ASSIGN(const auto jpeg, is_jpeg(bytes, call.node.attrs));
  if (jpeg && call.node.spec.type == dtype::uint8) {
    HEADRACE_TRY(check_jpeg_channels(call));
    HEADRACE_ASSIGN(const auto ratio, ratio_of(bytes, call));
    HEADRACE_ASSIGN(const auto part, lines_of(bytes, call, r, ratio));
    // If decoding the part fails, the whole image is decoded, because its error tells users more.
    if (part && decode_jpeg_lines(bytes, ratio, is_fast(call), *part, begin(part->size)).ok())
      return {};
  }
  HEADRACE_ASSIGN(const auto whole, decode_whole(bytes, call));
  part_place part{{}, {whole.size.height, whole.size.width, whole.size.channels}};
  if (call.inputs.size() > 1) {
    HEADRACE_ASSIGN(part, place_of_part(call, r, whole.size));
  }
  const auto to = begin({part.dims[0], part.dims[1], part.dims[2]});
  const auto pixel = static_cast<size_t>(whole.size.channels) * size_of(call.node.spec.type);
  const auto stride = static_cast<size_t>(whole.size.width) * pixel;
  if (part.dims[2] == whole.size.channels) { // each line of the part is contiguous
    const auto first =
      static_cast<size_t>(part.begin[0]) * stride + static_cast<size_t>(part.begin[1]) * pixel;
    for (size_t y = 0; y < static_cast<size_t>(part.dims[0]); ++y)
      to.take(y, whole.pixels.data() + first + y * stride);
    return {};
  }
  const auto pixels = values_of_part(whole, part, size_of(call.node.spec.type));
  const auto line = pixels.size() / static_cast<size_t>(std::max<int64_t>(1, part.dims[0]));
  for (size_t y = 0; y < static_cast<size_t>(part.dims[0]); ++y)
    to.take(y, pixels.data() + y * line);
  return {};
}

namespace {

/// Appends the requested part of the image of row `r`.
status append_part(const op_call& call, size_t r, column_builder& out) {
  image_size size;
  size_t values = 0;
  const auto why = decode_lines(call, r, [&](const image_size& found) -> line_reader {
    out.take_back(values);
    size = found;
    values = static_cast<size_t>(size.height * size.width * size.channels);
    const auto line =
      static_cast<size_t>(size.width * size.channels) * size_of(call.node.spec.type);
    return {1, [to = out.extend(values), line](size_t y, const std::byte* from) {
              std::memcpy(to + y * line, from, line);
            }};
  });
  if (why.ok())
    out.end_row(shape{size.height, size.width, size.channels});
  else
    out.take_back(values);
  return why;
}

result<image_size> extents_of(std::string_view bytes, const op_call& call) {
  HEADRACE_ASSIGN(const auto jpeg, is_jpeg(bytes, call.node.attrs));
  if (jpeg) {
    HEADRACE_TRY(check_jpeg_channels(call));
    HEADRACE_ASSIGN(const auto ratio, ratio_of(bytes, call));
    return jpeg_size(bytes, channels_of(call), ratio);
  }
  decoded whole;
  HEADRACE_TRY(decode_png(bytes, channels_of(call), false, whole.room(1)));
  return whole.size;
}

column run_decode(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape&, column_builder& out) -> status {
    const auto& in = call.inputs[0];
    const auto bytes = in.data->string(static_cast<size_t>(in.first_value(r)));
    if (call.node.attrs.flag) {
      HEADRACE_ASSIGN(const auto found, extents_of(bytes, call));
      const int64_t extents[] = {found.height, found.width, found.channels};
      std::memcpy(out.extend(3), extents, sizeof(extents));
      out.end_row(shape{3});
      return {};
    }
    if (call.inputs.size() > 1)
      return append_part(call, r, out);
    image_size dims;
    size_t values = 0;
    const auto why = decode(bytes, call, [&](const image_size& found) {
      dims = found;
      values = static_cast<size_t>(found.height * found.width * found.channels);
      return out.extend(values);
    });
    if (why.ok())
      out.end_row(shape{dims.height, dims.width, dims.channels});
    else
      out.take_back(values); // the file turned out to be damaged
    return why;
  });
}

// -- encode_image -----------------------------------------------------------------------------

result<tensor_spec> infer_encode(const library_operands& in) {
  const auto& dims = in[0].dims;
  const bool jpeg = in.attrs.text == "jpeg";
  if (!jpeg && in.attrs.text != "png")
    return invalid_argument(fmt::format("format '{}'; there are jpeg and png", in.attrs.text));
  if (in[0].type != dtype::uint8 && (jpeg || in[0].type != dtype::uint16))
    return invalid_argument(fmt::format("the image is {}; {} is needed", to_string(in[0]),
                                        jpeg ? "uint8" : "uint8 or uint16"));
  if (dims.has_rank() && dims.rank() != 3)
    return invalid_argument(fmt::format("the image has shape {}; [height, width, channels] is "
                                        "needed",
                                        to_string(dims)));
  if (dims.has_rank() && dims[2] != shape::unknown
      && (dims[2] < 1 || dims[2] > 4 || (jpeg && dims[2] % 2 == 0)))
    return invalid_argument(fmt::format("{} channels; a {} has {}", dims[2], jpeg ? "JPEG" : "PNG",
                                        jpeg ? "1 or 3" : "1 to 4"));
  if (in.attrs.dims.size() != 1)
    return invalid_argument("quality or compression is needed");
  const auto level = in.attrs.dims[0];
  if (jpeg ? level < 1 || level > 100 : level < -1 || level > 9)
    return invalid_argument(jpeg ? fmt::format("quality {}; it is in [1, 100]", level)
                                 : fmt::format("compression {}; it is in [-1, 9]", level));
  return tensor_spec{dtype::string, {}};
}

column run_encode(const op_call& call) {
  const auto level = static_cast<int>(call.node.attrs.dims[0]);
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto& in = call.inputs[0];
    const auto row = in.shape_of(r);
    const image_size size{row[0], row[1], row[2]};
    const auto wide = in.data->type() == dtype::uint16;
    const auto* pixels =
      in.data->value_buffer().data() + static_cast<size_t>(in.first_value(r)) * (wide ? 2 : 1);
    auto file = call.node.attrs.text == "jpeg"
                  ? encode_jpeg(reinterpret_cast<const uint8_t*>(pixels), size, level)
                  : encode_png(pixels, size, wide, level);
    HEADRACE_TRY(file.status());
    out.add_string(*file);
    out.end_row(dims);
    return {};
  });
}

} // namespace

std::span<const library_function> image_codec_functions() {
  static constexpr library_function functions[] = {
    {expr_op::decode_image, "image.decode_image", 1, 3, infer_decode, run_decode},
    {expr_op::encode_image, "image.encode_image", 1, 1, infer_encode, run_encode},
  };
  return functions;
}

} // namespace headrace::detail
