#include "headrace/pipeline/functions/operations/image_codec.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <spng.h>
#include <vector>

namespace headrace::detail {

namespace {

struct png_closing {
  void operator()(spng_ctx* context) const noexcept { spng_ctx_free(context); }
};
using png_codec = std::unique_ptr<spng_ctx, png_closing>;

status failure(int code) {
  return invalid_argument(fmt::format("no whole PNG: {}", spng_strerror(code)));
}

int channels_in(const spng_ihdr& header, bool transparent) {
  switch (header.color_type) {
  case SPNG_COLOR_TYPE_GRAYSCALE: return 1;
  case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
  case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
  case SPNG_COLOR_TYPE_INDEXED: return transparent ? 4 : 3;
  default: return 3;
  }
}

/// The luma of a colour as libpng computes it, with weights in units of 2^-15. For values of 8 bits
/// the luma is truncated; for values of 16 bits it is rounded.
template <class T>
uint32_t luma_of(const T* colour, uint32_t half) {
  return (colour[0] * 9797u + colour[1] * 19234u + colour[2] * 3737u + half) >> 15;
}
uint16_t luma(const uint16_t* x) { return static_cast<uint16_t>(luma_of(x, 1 << 14)); }
uint8_t luma(const uint8_t* x) { return static_cast<uint8_t>(luma_of(x, 0)); }

/// Converts pixels of four channels, which have the bit depth of `In`, to `channels` channels with
/// the bit depth of `Out`. Colours become grey before their bit depth changes.
template <class Out, class In>
void pick_channels(Out* out, const In* from, size_t pixels, int channels, bool grey) {
  const auto deep_enough = [](In x) {
    return static_cast<Out>(sizeof(In) > sizeof(Out)   ? x >> 8
                            : sizeof(In) < sizeof(Out) ? x * 257
                                                       : x);
  };
  for (size_t i = 0; i < pixels; ++i, from += 4, out += channels) {
    if (channels >= 3) {
      std::transform(from, from + channels, out, deep_enough);
      continue;
    }
    out[0] = deep_enough(grey ? from[0] : luma(from));
    if (channels == 2)
      out[1] = deep_enough(from[3]);
  }
}

} // namespace

status decode_png(std::string_view bytes, int channels, bool wide, const image_room& room) {
  const png_codec reader{spng_ctx_new(0)};
  if (!reader)
    return resource_exhausted("no memory for a PNG decoder");
  spng_set_crc_action(reader.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR);
  constexpr size_t most_chunk = 64 << 20; // the most bytes of a text, profile or other chunk
  spng_set_chunk_limits(reader.get(), most_chunk, most_chunk);
  if (auto code = spng_set_png_buffer(reader.get(), bytes.data(), bytes.size()); code != 0)
    return failure(code);
  spng_ihdr header{};
  if (auto code = spng_get_ihdr(reader.get(), &header); code != 0)
    return failure(code);
  if (int64_t{header.width} * header.height > most_image_values / 4)
    return resource_exhausted(
      fmt::format("a PNG of {} by {} pixels is too large", header.width, header.height));
  spng_trns trns{};
  const bool transparent = spng_get_trns(reader.get(), &trns) == 0;
  if (channels == 0)
    channels = channels_in(header, transparent);
  const bool deep = channels <= 2 ? header.bit_depth == 16 : wide;
  const auto format = deep ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8;
  const bool direct = channels == 4 || (channels == 3 && !wide);
  const auto chosen = channels == 3 && !wide ? SPNG_FMT_RGB8 : format;
  size_t size = 0;
  if (auto code = spng_decoded_image_size(reader.get(), chosen, &size); code != 0)
    return failure(code);
  auto* to = room({header.height, header.width, channels});
  std::vector<std::byte> whole(direct ? 0 : size);
  auto* target = direct ? to : whole.data();
  if (auto code = spng_decode_image(reader.get(), target, size, chosen,
                                    direct && channels == 3 ? 0 : SPNG_DECODE_TRNS);
      code != 0)
    return failure(code);
  if (direct)
    return {};
  const bool grey = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE
                    || header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
  const auto pixels = size_t{header.width} * header.height;
  const auto pick = [&](const auto* from) {
    if (wide)
      pick_channels(reinterpret_cast<uint16_t*>(to), from, pixels, channels, grey);
    else
      pick_channels(reinterpret_cast<uint8_t*>(to), from, pixels, channels, grey);
  };
  if (deep)
    pick(reinterpret_cast<const uint16_t*>(target));
  else
    pick(reinterpret_cast<const uint8_t*>(target));
  return {};
}

result<std::string> encode_png(const void* pixels, const image_size& size, bool wide,
                               int compression) {
  const png_codec writer{spng_ctx_new(SPNG_CTX_ENCODER)};
  if (!writer)
    return resource_exhausted("no memory for a PNG encoder");
  constexpr uint8_t kinds[] = {SPNG_COLOR_TYPE_GRAYSCALE, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA,
                               SPNG_COLOR_TYPE_TRUECOLOR, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
  spng_ihdr header{};
  header.width = static_cast<uint32_t>(size.width);
  header.height = static_cast<uint32_t>(size.height);
  header.bit_depth = wide ? 16 : 8;
  header.color_type = kinds[size.channels - 1];
  const auto bytes = static_cast<size_t>(size.width * size.height * size.channels) * (wide ? 2 : 1);
  int code = spng_set_option(writer.get(), SPNG_ENCODE_TO_BUFFER, 1);
  if (code == 0)
    code = spng_set_option(writer.get(), SPNG_IMG_COMPRESSION_LEVEL, compression);
  if (code == 0)
    code = spng_set_ihdr(writer.get(), &header);
  if (code == 0)
    code = spng_encode_image(writer.get(), pixels, bytes, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  size_t written = 0;
  std::unique_ptr<void, void (*)(void*)> out{nullptr, std::free};
  if (code == 0)
    out.reset(spng_get_png_buffer(writer.get(), &written, &code));
  if (code != 0)
    return invalid_argument(fmt::format("PNG encoder: {}", spng_strerror(code)));
  return std::string{static_cast<const char*>(out.get()), written};
}

} // namespace headrace::detail
