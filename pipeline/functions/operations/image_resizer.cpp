#include "headrace/pipeline/functions/operations/image_resizer.hpp"

namespace headrace::detail {

image_resizer::image_resizer(std::string_view method, bool antialias, dtype type)
  : blend_rows_(kernels::find_blend_rows(type)),
    blend_pixels_(kernels::find_blend_pixels()),
    kernel_(method == "bilinear"  ? kernels::resize_kernel::triangle
            : method == "bicubic" ? kernels::resize_kernel::cubic
                                  : kernels::resize_kernel::area),
    antialias_(antialias) {}

void image_resizer::plan(kernels::axis_weights& axis, size_t& known_in, size_t& known_out,
                         size_t in, size_t out) const {
  if (known_in == in && known_out == out)
    return;
  axis = kernels::weights_of(kernel_, in, out, antialias_);
  known_in = in;
  known_out = out;
}

void image_resizer::begin(const images& from, const images& to, const resized_lines::band& out,
                          resized_lines& lines) {
  plan(down_, in_height_, out_height_, from.height, to.height);
  plan(across_, in_width_, out_width_, from.width, to.width);
  out_ = out;
  lines_ = &lines;
  values_in_line_ = from.width * from.channels;
  channels_ = from.channels;
  made_ = 0;
  last_.assign(down_.taps, nullptr);
  taps_.resize(down_.taps);
  blended_.resize(values_in_line_ + 1);
}

void image_resizer::add(size_t y, const std::byte* line) {
  const auto taps = down_.taps;
  last_[y % taps] = line;
  while (made_ < out_height_ && down_.starts[made_] + taps - 1 <= y) {
    for (size_t k = 0; k < taps; ++k) taps_[k] = last_[(down_.starts[made_] + k) % taps];
    blend_rows_(blended_.data(), taps_.data(), down_.weights.data() + made_ * taps, taps,
                values_in_line_);
    const auto place = made_ % out_.lines;
    blend_pixels_(out_.values + place * out_width_ * channels_, blended_.data(), across_,
                  channels_);
    ++made_;
    if (place + 1 == out_.lines || made_ == out_height_)
      lines_->filled(made_ - 1 - place, place + 1);
  }
}

} // namespace headrace::detail
