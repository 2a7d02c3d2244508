#include "headrace/pipeline/functions/operations/image_codec.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstdio> // jpeglib.h needs this header, but does not include it
#include <cstring>
#include <fmt/format.h>
#include <jpeglib.h>
#include <memory>

namespace headrace::detail {

namespace {

/// The error handler of a decoder. The library reports an error by calling a function that must not
/// return, so this function (`fail`) writes `text` and jumps to `back`.
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

/// Warnings, which have a negative level, report damaged data: they count as failures.
void warn(j_common_ptr c, int level) {
  if (level < 0)
    fail(c);
}

/// The region that is decoded: the part, and the pixels around it on which the pixels of the part
/// may depend because chroma is interpolated.
struct margins {
  JDIMENSION left, width, top;
};

margins margins_of(const jpeg_decompress_struct& c, const image_part& part) {
  const auto step = [&](int factor) {
    return static_cast<int64_t>(factor) * DCTSIZE; // at a ratio above 1 this is more than needed
  };
  const auto across = step(c.max_h_samp_factor), down = 2 * step(c.max_v_samp_factor);
  const auto left = std::max<int64_t>(0, part.left - across);
  const auto right = std::min<int64_t>(c.output_width, part.left + part.size.width + across);
  return {static_cast<JDIMENSION>(left), static_cast<JDIMENSION>(right - left),
          static_cast<JDIMENSION>(std::max<int64_t>(0, part.top - down))};
}

/// True if the library smooths blocks because scans of a progressive image are missing. Smoothing
/// reads two blocks on each side of a block, and a cropped line does not contain all of these.
bool is_smoothed(const jpeg_decompress_struct& c) {
  if (c.progressive_mode && c.coef_bits != nullptr)
    for (int k = 0; k < c.num_components; ++k)
      if (std::any_of(c.coef_bits[k] + 1, c.coef_bits[k] + DCTSIZE2,
                      [](int bits) { return bits != 0; }))
        return true;
  return false;
}

/// The number of lines that are decoded at a time: as many as one row of blocks has if chroma has
/// half the resolution.
constexpr JDIMENSION lines_at_once = 2 * DCTSIZE;

/// Memory for the last lines of an image, or for all of its lines.
struct line_memory {
  unsigned char* first;
  size_t stride; ///< the bytes from the start of a line to the start of the next one
  size_t lines;

  unsigned char* of(size_t y) const noexcept { return first + y % lines * stride; }
};

/// Owns memory for some lines. The start of each line is misaligned on purpose: the library writes
/// aligned lines with instructions that bypass the CPU's caches, and here each line is read
/// immediately.
class line_ring {
public:
  line_ring(size_t lines, size_t bytes)
    : lines_(lines),
      stride_((bytes / alignment + 1) * alignment),
      memory_(std::make_unique_for_overwrite<unsigned char[]>(lines * stride_ + 2 * alignment)) {}
  line_memory get() const noexcept {
    const auto start = reinterpret_cast<uintptr_t>(memory_.get());
    return {memory_.get() + (alignment - start % alignment) + alignment / 4, stride_, lines_};
  }

private:
  static constexpr size_t alignment = 32; ///< the largest alignment that matters to the library

  size_t lines_, stride_;
  std::unique_ptr<unsigned char[]> memory_;
};

/// Decodes `part`. Returns false after a failure. The function has no object with a destructor,
/// because a failure jumps back to its `setjmp` without running destructors.
bool decode(jpeg_decompress_struct& c, failing& errors, std::string_view bytes, int ratio,
            bool fast, const image_part& part, const line_memory& memory, const line_reader& to) {
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
  const auto end = static_cast<JDIMENSION>(part.top + part.size.height);
  // `memory` was allocated for the extents that another reader of the header, `jpeg_size`, found.
  if (size_t{c.output_width} * static_cast<size_t>(c.output_components) > memory.stride
      || end > c.output_height) {
    std::strcpy(errors.text, "its extents are read in two ways");
    return false;
  }
  auto [left, width, top] = margins_of(c, part);
  if (is_smoothed(c)) {
    left = 0;
    width = c.output_width;
  }
  if (width != c.output_width)
    jpeg_crop_scanline(&c, &left, &width);
  if (top != 0)
    jpeg_skip_scanlines(&c, top);
  const auto skip = static_cast<size_t>((part.left - left) * part.size.channels);
  JSAMPROW rows[lines_at_once];
  while (c.output_scanline < end) {
    const auto first = c.output_scanline;
    const auto wanted = std::min(lines_at_once, end - first);
    for (JDIMENSION i = 0; i < wanted; ++i) rows[i] = memory.of(first + i);
    const auto read = jpeg_read_scanlines(&c, rows, wanted);
    for (auto y = first; y < first + read; ++y)
      if (y >= part.top)
        to.take(static_cast<size_t>(y - part.top),
                reinterpret_cast<const std::byte*>(memory.of(y) + skip));
  }
  // The library decodes the lines that it skips, unless these are all remaining lines of the image.
  // The last line is therefore read, so that damage in the remaining lines is found.
  if (c.output_scanline < c.output_height) {
    if (const auto rest = c.output_height - c.output_scanline; rest > 1)
      jpeg_skip_scanlines(&c, rest - 1);
    rows[0] = memory.of(0);
    jpeg_read_scanlines(&c, rows, 1);
  }
  jpeg_finish_decompress(&c);
  return true;
}

/// Frees the memory of the library. No longjmp skips the destructor: the object is made after
/// `jpeg_create_decompress`, and later failures jump into the other `decode`, which is called while
/// the object exists.
struct destroyer {
  jpeg_decompress_struct& c;

  explicit destroyer(jpeg_decompress_struct& of) : c(of) {}
  destroyer(const destroyer&) = delete;
  ~destroyer() { jpeg_destroy_decompress(&c); }
};

status decode(std::string_view bytes, int ratio, bool fast, const image_part& part,
              const line_memory& memory, const line_reader& to) {
  failing errors{};
  jpeg_decompress_struct c{};
  c.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = fail;
  errors.base.emit_message = warn;
  if (setjmp(errors.back) != 0)
    return resource_exhausted("no memory for a JPEG decoder");
  jpeg_create_decompress(&c);
  const destroyer owner{c};
  const bool done = decode(c, errors, bytes, ratio, fast, part, memory, to);
  return done ? status{} : invalid_argument(fmt::format("no whole JPEG: {}", errors.text));
}

} // namespace

status decode_jpeg(std::string_view bytes, int channels, int ratio, bool fast,
                   const image_room& room) {
  HEADRACE_ASSIGN(const auto size, jpeg_size(bytes, channels, ratio));
  auto* to = reinterpret_cast<unsigned char*>(room(size));
  const auto line = static_cast<size_t>(size.width * size.channels);
  return decode(bytes, ratio, fast, {0, 0, size}, {to, line, static_cast<size_t>(size.height)},
                {1, [](size_t, const std::byte*) {}});
}

status decode_jpeg_lines(std::string_view bytes, int ratio, bool fast, const image_part& part,
                         const line_reader& to) {
  // The decoded lines are wider than the part by its margins, so there is memory for whole lines.
  HEADRACE_ASSIGN(const auto whole, jpeg_size(bytes, static_cast<int>(part.size.channels), ratio));
  const line_ring ring{to.kept + lines_at_once, static_cast<size_t>(whole.width * whole.channels)};
  return decode(bytes, ratio, fast, part, ring.get(), to);
}

} // namespace headrace::detail
