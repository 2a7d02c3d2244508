#pragma once

#include "tests/pipeline/functions/pixels.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <string>
#include <turbojpeg.h>

namespace headrace::detail::test {

/// `count` JPEGs of many sizes and kinds of chroma subsampling; some of them are progressive. If
/// `damage` is true, some are damaged.
inline std::vector<std::string> jpegs(std::mt19937_64& random, int count, bool damage) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) {
    const auto width = static_cast<int>(random() % 90 + 1);
    const auto height = static_cast<int>(random() % 90 + 1);
    const bool grey = random() % 4 == 0;
    auto values = pixels(static_cast<size_t>(width * height * 3), random());
    if (random() % 2 == 0) // half of the images are smooth
      std::partial_sum(values.begin(), values.end(), values.begin(),
                       [](uint8_t a, uint8_t b) { return static_cast<uint8_t>((7 * a + b) / 8); });
    constexpr int chroma[] = {TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_440, TJSAMP_411};
    const std::unique_ptr<void, int (*)(void*)> writer{tjInitCompress(), tjDestroy};
    unsigned char* file = nullptr;
    unsigned long bytes = 0;
    EXPECT_EQ(tjCompress2(writer.get(), values.data(), width, 0, height,
                          grey ? TJPF_GRAY : TJPF_RGB, &file, &bytes,
                          grey ? TJSAMP_GRAY : chroma[random() % 5], 30 + int(random() % 70),
                          random() % 3 == 0 ? TJFLAG_PROGRESSIVE : 0),
              0);
    const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner{file, tjFree};
    out.emplace_back(reinterpret_cast<const char*>(file), bytes);
    if (damage && random() % 3 == 0)
      out.back().resize(random() % bytes);
    for (auto n = damage ? random() % 3 : 0; n > 0 && !out.back().empty(); --n)
      out.back()[random() % out.back().size()] = static_cast<char>(random());
  }
  return out;
}

} // namespace headrace::detail::test
