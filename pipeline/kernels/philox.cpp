#include "headrace/pipeline/kernels/philox.hpp"

#include <Random123/philox.h>

namespace headrace::detail::kernels {

namespace {

std::array<uint32_t, 4> philox(const std::array<uint32_t, 4>& counter,
                               const std::array<uint32_t, 2>& key) {
  const auto out =
    r123::Philox4x32{}({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {out[0], out[1], out[2], out[3]};
}

} // namespace

seeded_words::seeded_words(uint64_t seed0, uint64_t seed1) noexcept {
  const auto mixed = philox({static_cast<uint32_t>(seed0), static_cast<uint32_t>(seed0 >> 32),
                             static_cast<uint32_t>(seed1), static_cast<uint32_t>(seed1 >> 32)},
                            {0x3ec8f720, 0x02461e29});
  key_ = {mixed[0], mixed[1]};
  counter_ = {0, 0, mixed[2], mixed[3]};
}

std::array<uint32_t, 4> seeded_words::group(uint64_t group) const noexcept {
  auto counter = counter_;
  counter[0] = static_cast<uint32_t>(group);
  counter[1] = static_cast<uint32_t>(group >> 32);
  return philox(counter, key_);
}

void seeded_words::fill(uint32_t* out, uint64_t first, size_t n) const noexcept {
  for (size_t i = 0; i < n;) {
    const auto at = first + i;
    const auto words = group(at / 4);
    for (auto w = at % 4; w < 4 && i < n; ++w, ++i) out[i] = words[w];
  }
}

} // namespace headrace::detail::kernels
