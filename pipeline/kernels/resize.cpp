#include "headrace/pipeline/kernels/resize.hpp"

#include "headrace/pipeline/kernels/targets.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/pipeline/kernels/resize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {
namespace {

// States whether the products of a step begin the sums, or are added to the sums so far.
enum class sums : bool { begin, go_on };

template <sums How, class T>
void add_one(float* __restrict out, const T* __restrict a, float of_a, size_t n) {
  for (size_t i = 0; i < n; ++i)
    out[i] = (How == sums::begin ? 0.0f : out[i]) + of_a * static_cast<float>(a[i]);
}
template <sums How, class T>
void add_two(float* __restrict out, const T* __restrict a, const T* __restrict b, float of_a,
             float of_b, size_t n) {
  for (size_t i = 0; i < n; ++i)
    out[i] = (How == sums::begin ? 0.0f : out[i]) + of_a * static_cast<float>(a[i])
             + of_b * static_cast<float>(b[i]);
}

// Two rows are processed at a time, because most results depend on only two rows, and because each
// sum is then stored half as often.
template <class T>
void blend_rows(float* out, const void* const* rows, const float* weights, size_t taps, size_t n) {
  size_t k = 0;
  const auto next = [&] {
    while (k < taps && weights[k] == 0) ++k;
    return k < taps ? k++ : taps;
  };
  const auto row = [&](size_t i) { return static_cast<const T*>(rows[i]); };
  const auto add = [&]<sums How>(std::integral_constant<sums, How>) {
    const auto a = next();
    const auto b = next();
    if (a == taps)
      return false;
    if (b == taps)
      add_one<How>(out, row(a), weights[a], n);
    else
      add_two<How>(out, row(a), row(b), weights[a], weights[b], n);
    return true;
  };
  if (!add(std::integral_constant<sums, sums::begin>{}))
    std::fill_n(out, n, 0.0f);
  while (add(std::integral_constant<sums, sums::go_on>{})) {
  }
}

template <size_t Channels>
void blend_some(float* out, const float* row, const axis_weights& axis) {
  const auto* weights = axis.weights.data();
  for (const auto start : axis.starts) {
    float sums[Channels] = {};
    const auto* pixel = row + start * Channels;
    for (size_t k = 0; k < axis.taps; ++k, pixel += Channels)
      for (size_t c = 0; c < Channels; ++c) sums[c] += weights[k] * pixel[c];
    std::copy_n(sums, Channels, out);
    out += Channels;
    weights += axis.taps;
  }
}

using four = float __attribute__((vector_size(16)));

four load(const float* from) {
  four out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

// Processes three channels, and the first channel of the next pixel, in one register. The sum for
// this surplus channel is overwritten when the next pixel is stored.
template <size_t Taps>
void blend_three(float* out, const float* row, const axis_weights& axis) {
  const auto* weights = axis.weights.data();
  const auto taps = Taps == 0 ? axis.taps : Taps;
  const auto sum_at = [&](size_t i) {
    four sum{};
    const auto* pixel = row + axis.starts[i] * 3;
    for (size_t k = 0; k < taps; ++k) sum += weights[i * taps + k] * load(pixel + k * 3);
    return sum;
  };
  const auto last = axis.starts.size() - 1;
  for (size_t i = 0; i < last; ++i) {
    const auto sum = sum_at(i);
    std::memcpy(out + i * 3, &sum, sizeof sum);
  }
  const auto sum = sum_at(last);
  std::memcpy(out + last * 3, &sum, 3 * sizeof(float));
}

void blend_pixels(float* out, const float* row, const axis_weights& axis, size_t channels) {
  switch (channels) {
  case 1: return blend_some<1>(out, row, axis);
  case 3: return axis.taps == 2 ? blend_three<2>(out, row, axis) : blend_three<0>(out, row, axis);
  case 4: return blend_some<4>(out, row, axis);
  default: break;
  }
  const auto* weights = axis.weights.data();
  for (const auto start : axis.starts) {
    std::fill_n(out, channels, 0.0f);
    for (size_t k = 0; k < axis.taps; ++k)
      for (size_t c = 0; c < channels; ++c) out[c] += weights[k] * row[(start + k) * channels + c];
    out += channels;
    weights += axis.taps;
  }
}

blend_rows_fn FindBlendRows(dtype type) {
  switch (type) {
  case dtype::uint8: return blend_rows<uint8_t>;
  case dtype::int8: return blend_rows<int8_t>;
  case dtype::uint16: return blend_rows<uint16_t>;
  case dtype::int16: return blend_rows<int16_t>;
  case dtype::int32: return blend_rows<int32_t>;
  case dtype::float16: return blend_rows<float16>;
  case dtype::bfloat16: return blend_rows<bfloat16>;
  case dtype::float32: return blend_rows<float>;
  case dtype::float64: return blend_rows<double>;
  default: return nullptr;
  }
}
blend_pixels_fn FindBlendPixels() { return blend_pixels; }

} // namespace
} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::kernels {

namespace {

float weight_of(resize_kernel kernel, float x) {
  if (kernel == resize_kernel::triangle)
    return x < 1 ? 1 - x : 0;
  // The cubic convolution of Keys with a = -1/2.
  if (x >= 2)
    return 0;
  if (x >= 1)
    return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return (1.5f * x - 2.5f) * x * x + 1;
}

/// Collects the weights for each value of the result. `finish` adds zeros, so that all values have
/// the same number of weights.
class weights_builder {
public:
  explicit weights_builder(size_t in) : in_(in) {}

  void begin(size_t start) {
    starts_.push_back(start);
    first_.push_back(all_.size());
  }
  void add(float weight) { all_.push_back(weight); }
  /// Scales the weights of the last value so that their sum is 1, unless their sum is 0.
  void normalise() {
    float sum = 0;
    for (auto i = first_.back(); i < all_.size(); ++i) sum += all_[i];
    if (sum != 0)
      for (auto i = first_.back(); i < all_.size(); ++i) all_[i] /= sum;
  }
  axis_weights finish() && {
    first_.push_back(all_.size());
    axis_weights out;
    for (size_t i = 0; i < starts_.size(); ++i)
      out.taps = std::max(out.taps, first_[i + 1] - first_[i]);
    out.weights.resize(starts_.size() * out.taps);
    for (size_t i = 0; i < starts_.size(); ++i) {
      const auto start = std::min(starts_[i], in_ - out.taps);
      out.starts.push_back(start);
      std::copy(all_.begin() + static_cast<std::ptrdiff_t>(first_[i]),
                all_.begin() + static_cast<std::ptrdiff_t>(first_[i + 1]),
                out.weights.begin()
                  + static_cast<std::ptrdiff_t>(i * out.taps + starts_[i] - start));
    }
    return out;
  }

private:
  size_t in_;
  std::vector<size_t> starts_, first_;
  std::vector<float> all_;
};

} // namespace

axis_weights weights_of(resize_kernel kernel, size_t in, size_t out, bool antialias) {
  const auto scale = static_cast<float>(in) / static_cast<float>(out);
  // From 2^24 on, `in` as a float may be rounded up, so `last` is lowered until it is below `in`.
  auto last = static_cast<float>(in) - 1;
  while (last > 0 && static_cast<size_t>(last) >= in) last = std::nextafter(last, 0.0f);
  weights_builder made{in};
  for (size_t i = 0; i < out; ++i) {
    const auto at = static_cast<float>(i);
    if (kernel == resize_kernel::area) {
      const auto begin = at * scale, end = (at + 1) * scale;
      const auto first = std::min(std::floor(begin), last);
      made.begin(static_cast<size_t>(first));
      // Pixels are counted by integers: from 2^24 on, a float plus 1 may be the same float.
      const auto past = std::max(std::min(std::ceil(end), last + 1), first + 1);
      for (auto k = static_cast<size_t>(first); k < std::min(static_cast<size_t>(past), in); ++k) {
        const auto x = static_cast<float>(k);
        made.add((std::min(x + 1, end) - std::max(x, begin)) / scale);
      }
      continue;
    }
    const auto wide = antialias ? std::max(scale, 1.0f) : 1.0f;
    const auto radius = (kernel == resize_kernel::triangle ? 1.0f : 2.0f) * wide;
    const auto centre = (at + 0.5f) * scale;
    const auto first = std::clamp(std::ceil(centre - radius - 0.5f), 0.0f, last);
    const auto end = std::clamp(std::floor(centre + radius - 0.5f), 0.0f, last);
    made.begin(static_cast<size_t>(first));
    for (auto k = static_cast<size_t>(first); k <= static_cast<size_t>(end); ++k)
      made.add(weight_of(kernel, std::abs(static_cast<float>(k) + 0.5f - centre) / wide));
    made.normalise();
  }
  return std::move(made).finish();
}

HWY_EXPORT(FindBlendRows);
HWY_EXPORT(FindBlendPixels);
blend_rows_fn find_blend_rows(dtype type) noexcept {
  return HWY_DYNAMIC_DISPATCH(FindBlendRows)(type);
}
blend_pixels_fn find_blend_pixels() noexcept { return HWY_DYNAMIC_DISPATCH(FindBlendPixels)(); }

} // namespace headrace::detail::kernels
#endif
