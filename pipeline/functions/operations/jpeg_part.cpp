#include "headrace/pipeline/functions/operations/image_codec.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstdio> // jpeglib.h does not include what it needs
#include <cstring>
#include <fmt/format.h>
#include <jpeglib.h>
#include <vector>

namespace headrace::detail {

namespace {

/// The library reports errors by a call that must not return.
struct failing {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

void fail(j_common_ptr c) {
  auto* to = reinterpret_cast<failing*>(c->err);
  c->err->format_message(c, to->text);
  std::longjmp(to->back, 1);
}

/// Damage is a failure, as it is where a whole image is decoded.
void warn(j_common_ptr c, int level) {
  if (level < 0)
    fail(c);
}

/// Pixels beside the part that the part's pixels may depend on, as chroma is interpolated.
struct margins {
  JDIMENSION left, width, top;
};

margins margins_of(const jpeg_decompress_struct& c, const image_part& part) {
  const auto step = [&](int factor) {
    return static_cast<int64_t>(factor) * DCTSIZE; // at a smaller scale this is more than needed
  };
  const auto across = step(c.max_h_samp_factor), down = 2 * step(c.max_v_samp_factor);
  const auto left = std::max<int64_t>(0, part.left - across);
  const auto right = std::min<int64_t>(c.output_width, part.left + part.size.width + across);
  return {static_cast<JDIMENSION>(left), static_cast<JDIMENSION>(right - left),
          static_cast<JDIMENSION>(std::max<int64_t>(0, part.top - down))};
}

/// Returns false after a failure. No object in it has a destructor, as a failure jumps.
bool decode(jpeg_decompress_struct& c, failing& errors, std::string_view bytes, int ratio,
            bool fast, const image_part& part, unsigned char* line, unsigned char* to) {
  if (setjmp(errors.back) != 0)
    return false;
  jpeg_mem_src(&c, reinterpret_cast<const unsigned char*>(bytes.data()),
               static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&c, TRUE);
  c.out_color_space = part.size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  c.dct_method = fast ? JDCT_IFAST : JDCT_ISLOW;
  c.scale_num = 1;
  c.scale_denom = static_cast<unsigned>(ratio);
  jpeg_start_decompress(&c);
  auto [left, width, top] = margins_of(c, part);
  jpeg_crop_scanline(&c, &left, &width);
  if (top != 0)
    jpeg_skip_scanlines(&c, top);
  const auto end = static_cast<JDIMENSION>(part.top + part.size.height);
  const auto skip = static_cast<size_t>((part.left - left) * part.size.channels);
  const auto kept = static_cast<size_t>(part.size.width * part.size.channels);
  while (c.output_scanline < end) {
    const auto at = static_cast<int64_t>(c.output_scanline);
    jpeg_read_scanlines(&c, &line, 1);
    if (at >= part.top)
      std::memcpy(to + static_cast<size_t>(at - part.top) * kept, line + skip, kept);
  }
  // The library reads what it skips, but for the rest of an image: so the last line is not skipped.
  if (c.output_scanline < c.output_height) {
    if (const auto rest = c.output_height - c.output_scanline; rest > 1)
      jpeg_skip_scanlines(&c, rest - 1);
    jpeg_read_scanlines(&c, &line, 1);
  }
  jpeg_finish_decompress(&c);
  return true;
}

} // namespace

status decode_jpeg_part(std::string_view bytes, int ratio, bool fast, const image_part& part,
                        std::byte* to) {
  failing errors{};
  jpeg_decompress_struct c{};
  c.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = fail;
  errors.base.emit_message = warn;
  // As wide as the image may be.
  HEADRACE_ASSIGN(const auto whole, jpeg_size(bytes, static_cast<int>(part.size.channels), ratio));
  std::vector<unsigned char> line(static_cast<size_t>(whole.width * whole.channels));
  if (setjmp(errors.back) != 0)
    return resource_exhausted("no memory for a JPEG decoder");
  jpeg_create_decompress(&c);
  const bool done =
    decode(c, errors, bytes, ratio, fast, part, line.data(), reinterpret_cast<unsigned char*>(to));
  jpeg_destroy_decompress(&c);
  return done ? status{} : invalid_argument(fmt::format("no whole JPEG: {}", errors.text));
}

} // namespace headrace::detail
