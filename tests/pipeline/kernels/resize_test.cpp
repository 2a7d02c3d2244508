#include "headrace/pipeline/kernels/resize.hpp"

#include "tests/pipeline/kernels/targets.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace headrace::detail::kernels {
namespace {

using test::chosen_target;
using test::targets_here;

class ResizeKernels : public ::testing::Test {
protected:
  template <class T>
  std::vector<T> values(size_t n) {
    std::uniform_int_distribution<int> numbers{0, 255};
    std::vector<T> out(n);
    for (auto& x : out) x = static_cast<T>(numbers(random_));
    return out;
  }
  /// Random weights, of which some are 0 and some negative, like those of the cubic kernel.
  std::vector<float> weights(size_t n) {
    std::uniform_real_distribution<float> numbers{-0.5f, 1};
    std::vector<float> out(n);
    for (auto& x : out) x = std::max(-0.25f, numbers(random_));
    for (auto& x : out) x = x == -0.25f ? 0 : x;
    return out;
  }

  /// Checks that the kernel's weighted sums of rows have the same bits as sums to which one
  /// weighted row is added after another.
  template <class T>
  void blends_rows(dtype type) {
    for (const size_t n : {0, 1, 3, 15, 16, 17, 672})
      for (size_t taps = 1; taps <= 7; ++taps) {
        const auto all = values<T>(n * taps);
        const auto by = weights(taps);
        std::vector<const void*> rows;
        std::vector<float> expected(n), out(n, -1);
        for (size_t k = 0; k < taps; ++k) {
          rows.push_back(all.data() + k * n);
          for (size_t i = 0; i < n; ++i) expected[i] += by[k] * static_cast<float>(all[k * n + i]);
        }
        find_blend_rows(type)(out.data(), rows.data(), by.data(), taps, n);
        ASSERT_TRUE(n == 0 || std::memcmp(out.data(), expected.data(), n * sizeof(float)) == 0)
          << to_string(type) << ", " << n << " values, " << taps << " taps";
      }
  }

  std::random_device::result_type seed_ = std::random_device{}();
  std::mt19937 random_{seed_};
};

TEST_F(ResizeKernels, RowsGiveTheBitsOfASumInOrderInEveryVariant) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed_);
  for (const auto target : targets_here()) {
    const chosen_target use{target};
    blends_rows<uint8_t>(dtype::uint8);
    blends_rows<uint16_t>(dtype::uint16);
    blends_rows<float>(dtype::float32);
  }
}

TEST_F(ResizeKernels, PixelsGiveTheBitsOfASumInOrderInEveryVariant) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed_);
  for (const auto target : targets_here())
    for (const size_t channels : {1, 2, 3, 4, 5})
      for (size_t taps = 1; taps <= 7; ++taps)
        for (const size_t n : {1, 2, 13}) {
          const chosen_target use{target};
          constexpr size_t width = 20;
          const auto row = values<float>(width * channels + 1);
          axis_weights axis{.taps = taps, .starts = {}, .weights = weights(n * taps)};
          for (size_t i = 0; i < n; ++i) axis.starts.push_back((i * 5) % (width - taps));
          axis.starts.back() = width - taps;
          std::vector<float> expected(n * channels), out(n * channels + 1, -1);
          for (size_t i = 0; i < n; ++i)
            for (size_t k = 0; k < taps; ++k)
              for (size_t c = 0; c < channels; ++c)
                expected[i * channels + c] +=
                  axis.weights[i * taps + k] * row[(axis.starts[i] + k) * channels + c];
          find_blend_pixels()(out.data(), row.data(), axis, channels);
          ASSERT_EQ(out.back(), -1) << "written after the end";
          out.pop_back();
          ASSERT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0)
            << channels << " channels, " << taps << " taps, " << n << " pixels";
        }
}

} // namespace
} // namespace headrace::detail::kernels
