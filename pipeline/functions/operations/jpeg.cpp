#include "headrace/pipeline/functions/operations/image_codec.hpp"

#include <fmt/format.h>
#include <memory>
#include <turbojpeg.h>

namespace headrace::detail {

namespace {

struct closing {
  void operator()(void* handle) const noexcept { tjDestroy(handle); }
};
using codec = std::unique_ptr<void, closing>;

status failure(const codec& c) {
  return invalid_argument(fmt::format("no whole JPEG: {}", tjGetErrorStr2(c.get())));
}

const unsigned char* jpeg_bytes(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

result<image_size> read_header(const codec& reader, std::string_view bytes, int channels,
                               int ratio) {
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (tjDecompressHeader3(reader.get(), jpeg_bytes(bytes), static_cast<unsigned long>(bytes.size()),
                          &width, &height, &sampling, &colours)
      != 0)
    return failure(reader);
  if (width < 1 || height < 1)
    return invalid_argument(
      fmt::format("no whole JPEG: {} bytes end before the image", bytes.size()));
  if (channels == 0)
    channels = colours == TJCS_GRAY ? 1 : 3;
  width = (width + ratio - 1) / ratio;
  height = (height + ratio - 1) / ratio;
  if (int64_t{width} * height * channels > most_image_values)
    return resource_exhausted(fmt::format("a JPEG of {} by {} pixels is too large", width, height));
  return image_size{height, width, channels};
}

result<codec> make_reader() {
  codec out{tjInitDecompress()};
  if (!out)
    return resource_exhausted("no memory for a JPEG decoder");
  return out;
}

} // namespace

result<image_size> jpeg_size(std::string_view bytes, int channels, int ratio) {
  HEADRACE_ASSIGN(const auto reader, make_reader());
  return read_header(reader, bytes, channels, ratio);
}

result<std::string> encode_jpeg(const uint8_t* pixels, const image_size& size, int quality) {
  const codec writer{tjInitCompress()};
  if (!writer)
    return resource_exhausted("no memory for a JPEG encoder");
  if (size.width < 1 || size.height < 1 || size.width > 65500 || size.height > 65500)
    return invalid_argument(fmt::format("{} by {} pixels; a JPEG has 1 to 65500 along each axis",
                                        size.width, size.height));
  unsigned char* out = nullptr;
  unsigned long bytes = 0;
  const bool grey = size.channels == 1;
  const auto failed =
    tjCompress2(writer.get(), pixels, static_cast<int>(size.width), 0,
                static_cast<int>(size.height), grey ? TJPF_GRAY : TJPF_RGB, &out, &bytes,
                grey ? TJSAMP_GRAY : TJSAMP_420, quality, TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner{out, tjFree};
  if (failed != 0)
    return internal_error(fmt::format("JPEG encoder: {}", tjGetErrorStr2(writer.get())));
  return std::string{reinterpret_cast<const char*>(out), bytes};
}

} // namespace headrace::detail
