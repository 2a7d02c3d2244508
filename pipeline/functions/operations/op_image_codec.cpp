#include "headrace/pipeline/functions/operations/image_codec.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

result<tensor_spec> infer_decode(const library_operands& in) {
  if (in[0].type != dtype::string || (in[0].dims.has_rank() && !in[0].dims.is_scalar()))
    return invalid_argument(
      fmt::format("the file is {}; a scalar string is needed", to_string(in[0])));
  if (in.attrs.dims.size() != 2)
    return invalid_argument("channels and ratio are needed");
  const auto channels = in.attrs.dims[0], ratio = in.attrs.dims[1];
  const auto& format = in.attrs.text;
  if (format != "jpeg" && format != "png" && format != "any")
    return invalid_argument(fmt::format("format '{}'; there are jpeg, png and any", format));
  const bool png = format == "png";
  if (channels != 0 && channels != 1 && channels != 3 && !(png && (channels == 2 || channels == 4)))
    return invalid_argument(fmt::format("{} channels; there can be 0 (as in the file), 1, {}",
                                        channels, png ? "2, 3 or 4" : "or 3"));
  if (ratio != 1 && (format != "jpeg" || (ratio != 2 && ratio != 4 && ratio != 8)))
    return invalid_argument(
      fmt::format("ratio {}; JPEGs can be divided by 1, 2, 4 or 8 while decoding", ratio));
  if (in.type != dtype::uint8 && !(png && in.type == dtype::uint16))
    return invalid_argument(fmt::format("{} was asked for; there is uint8{}", to_string(in.type),
                                        png ? " and uint16" : ""));
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

status decode(std::string_view bytes, const op_call& call, const image_room& room) {
  const auto& attrs = call.node.attrs;
  const auto channels = static_cast<int>(attrs.dims[0]);
  const bool jpeg = bytes.starts_with(jpeg_start), png = bytes.starts_with(png_start);
  if (attrs.text == "jpeg" ? !jpeg : attrs.text == "png" ? !png : !jpeg && !png)
    return data_loss(fmt::format("{} bytes that begin with [{}] are no {}", bytes.size(),
                                 first_bytes(bytes),
                                 attrs.text == "any"    ? "JPEG or PNG"
                                 : attrs.text == "jpeg" ? "JPEG"
                                                        : "PNG"));
  if (jpeg)
    return decode_jpeg(bytes, channels, static_cast<int>(attrs.dims[1]), room);
  return decode_png(bytes, channels, call.node.spec.type == dtype::uint16, room);
}

column run_decode(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape&, column_builder& out) -> status {
    const auto& in = call.inputs[0];
    const auto bytes = in.data->string(static_cast<size_t>(in.first_value(r)));
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
    {expr_op::decode_image, "image.decode_image", 1, 1, infer_decode, run_decode},
    {expr_op::encode_image, "image.encode_image", 1, 1, infer_encode, run_encode},
  };
  return functions;
}

} // namespace headrace::detail
