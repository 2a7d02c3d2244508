#include "benchmarks/float_chain.hpp"

#include "headrace/pipeline/kernels/targets.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/float_chain.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::bench::HWY_NAMESPACE {
namespace {

constexpr size_t length = 256, together = 64;

using pass = void (*)(float*, float, size_t);

void multiply(float* x, float by, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] *= by;
}

void add(float* x, float what, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] += what;
}

float run_tile(const std::vector<std::pair<pass, float>>& passes, const float* base, float* tile,
               size_t tile_size, float* out, size_t first) {
  for (size_t done = 0; done < length * together; done += tile_size) {
    for (size_t row = 0; row < tile_size; row += length) {
      const size_t element = first + (done + row) / length;
      const auto shift = static_cast<float>(element) * 1e-6f;
      for (size_t i = 0; i < length; ++i) tile[row + i] = base[i] + shift;
    }
    for (const auto& [function, operand] : passes) function(tile, operand, tile_size);
    std::memcpy(out + done, tile, tile_size * sizeof(float));
  }
  return out[5];
}

double Chain(size_t vectors) {
  // The functions are read from a volatile array, so that the compiler cannot determine which
  // functions are called and combine consecutive calls.
  const volatile pass functions[] = {multiply, add};
  std::vector<std::pair<pass, float>> passes;
  for (int i = 0; i < 10; ++i) {
    passes.emplace_back(functions[0], 0.999f);
    passes.emplace_back(functions[1], 0.001f);
  }
  std::vector<float> base(length), out(length * together);
  for (size_t i = 0; i < length; ++i) base[i] = static_cast<float>(i) / length;
  double best = 0;
  float kept = 0;
  for (size_t tile_size : {1024, 4096}) {
    std::vector<float> tile(tile_size);
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < vectors; i += together)
      kept += run_tile(passes, base.data(), tile.data(), tile_size, out.data(), i);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::max(best, static_cast<double>(vectors) / took.count());
  }
  [[maybe_unused]] volatile float k = kept;
  return best;
}

} // namespace
} // namespace headrace::detail::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::detail::bench {
HWY_EXPORT(Chain);
double plain_float_chain(size_t vectors) { return HWY_DYNAMIC_DISPATCH(Chain)(vectors); }
} // namespace headrace::detail::bench
#endif
