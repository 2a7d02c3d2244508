#pragma once

#include "headrace/pipeline/functions/operations/images.hpp"
#include "headrace/pipeline/kernels/resize.hpp"

#include <string_view>

namespace headrace::detail {

/// Receives the lines of resized images.
class resized_lines {
public:
  /// Memory for some lines.
  struct band {
    float* values = nullptr;
    size_t lines = 0;
  };

  resized_lines() = default;
  resized_lines(const resized_lines&) = delete;
  resized_lines& operator=(const resized_lines&) = delete;
  virtual ~resized_lines() = default;

  /// Called when an image with these extents begins, or begins anew. Returns the memory for its
  /// lines; once all lines of this memory are filled, the next ones are written from its start.
  virtual band begin(const shape& dims) = 0;
  /// Called when the lines `[first, first + count)` of the image are in the memory that `begin`
  /// returned. May throw.
  virtual void filled(size_t first, size_t count) = 0;
};

/// Resizes images one after the other, each line by line from the top. The tables of weights are
/// computed anew only if the extents change.
class image_resizer {
public:
  /// `method`: bilinear, bicubic or area. @pre `find_blend_rows(type)` is not null
  image_resizer(std::string_view method, bool antialias, dtype type);

  /// Begins an image with the extents of `from`. The resized image, with the extents of `to`, is
  /// written to `out`, and `lines.filled` is called for its lines. @pre neither image is empty
  void begin(const images& from, const images& to, const resized_lines::band& out,
             resized_lines& lines);
  /// The number of lines that must be readable during a call of `add`: the line that is added, and
  /// those directly before it.
  size_t kept_lines() const noexcept { return down_.taps; }
  /// Adds line `y` of the image. @pre the lines before it were added
  void add(size_t y, const std::byte* line);

private:
  void plan(kernels::axis_weights& axis, size_t& known_in, size_t& known_out, size_t in,
            size_t out) const;

  kernels::blend_rows_fn blend_rows_;
  kernels::blend_pixels_fn blend_pixels_;
  kernels::resize_kernel kernel_;
  bool antialias_;
  kernels::axis_weights down_, across_;
  size_t in_height_ = 0, out_height_ = 0, in_width_ = 0, out_width_ = 0;

  // The state of the image that was begun last.
  resized_lines::band out_;
  resized_lines* lines_ = nullptr;
  size_t values_in_line_ = 0, channels_ = 0;
  size_t made_ = 0;               ///< the number of complete lines of the result
  std::vector<const void*> last_; ///< the last input lines: line `y` is at `y % last_.size()`
  std::vector<const void*> taps_;
  std::vector<float> blended_; ///< the blended line, and one value that is not used
};

} // namespace headrace::detail
