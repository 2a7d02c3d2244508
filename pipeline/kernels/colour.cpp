#include "headrace/pipeline/kernels/colour.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::detail::kernels {

namespace {

struct pixel {
  float a, b, c;
};

pixel to_hsv(const pixel& rgb) {
  const auto [r, g, b] = rgb;
  const auto value = std::max({r, g, b});
  const auto range = value - std::min({r, g, b});
  const auto saturation = value > 0 ? range / value : 0.0f;
  if (!(range > 0))
    return {0, saturation, value};
  const auto sixth = 1 / (6 * range);
  auto hue = r == value   ? sixth * (g - b)
             : g == value ? sixth * (b - r) + 2.0f / 6
                          : sixth * (r - g) + 4.0f / 6;
  if (hue < 0)
    hue += 1;
  return {hue, saturation, value};
}

pixel to_rgb(const pixel& hsv) {
  const auto h = hsv.a * 6;
  const auto saturation = hsv.b;
  const auto value = hsv.c;
  const auto part = [&](float x) {
    return (1 - saturation + saturation * std::clamp(x, 0.0f, 1.0f)) * value;
  };
  return {part(std::abs(h - 3) - 1), part(2 - std::abs(h - 2)), part(2 - std::abs(h - 4))};
}

/// Applies `change` to `n` pixels. Each arithmetic operation is rounded separately, without fused
/// multiply-add, so that the bits of the result do not depend on the CPU.
template <class Change>
void change_pixels(float* out, const float* in, size_t n, Change change) {
  for (size_t i = 0; i < n; ++i, in += 3, out += 3) {
    const auto made = change(pixel{in[0], in[1], in[2]});
    out[0] = made.a;
    out[1] = made.b;
    out[2] = made.c;
  }
}

void rgb_to_hsv(float* out, const float* in, size_t n, float) { change_pixels(out, in, n, to_hsv); }
void hsv_to_rgb(float* out, const float* in, size_t n, float) { change_pixels(out, in, n, to_rgb); }
void adjust_hue(float* out, const float* in, size_t n, float amount) {
  change_pixels(out, in, n, [amount](const pixel& rgb) {
    auto hsv = to_hsv(rgb);
    hsv.a += amount;
    hsv.a -= std::floor(hsv.a);
    return to_rgb(hsv);
  });
}
void adjust_saturation(float* out, const float* in, size_t n, float amount) {
  change_pixels(out, in, n, [amount](const pixel& rgb) {
    auto hsv = to_hsv(rgb);
    hsv.b = std::clamp(hsv.b * amount, 0.0f, 1.0f);
    return to_rgb(hsv);
  });
}

} // namespace

colour_fn find_colour(expr_op op) noexcept {
  switch (op) {
  case expr_op::rgb_to_hsv: return rgb_to_hsv;
  case expr_op::hsv_to_rgb: return hsv_to_rgb;
  case expr_op::adjust_hue: return adjust_hue;
  case expr_op::adjust_saturation: return adjust_saturation;
  default: return nullptr;
  }
}

} // namespace headrace::detail::kernels
