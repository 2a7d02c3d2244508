#include "headrace/pipeline/functions/image.hpp"

#include "headrace/pipeline/functions/math.hpp"
#include "tests/pipeline/functions/everywhere.hpp"
#include "tests/pipeline/functions/pixels.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

/// One value of a resized image, computed from the definition.
double resized(const std::vector<uint8_t>& in, int64_t h, int64_t w, int64_t c, int64_t oh,
               int64_t ow, int64_t y, int64_t x, int64_t channel, bool cubic, bool antialias) {
  const auto weight = [&](double d) {
    d = std::abs(d);
    if (!cubic)
      return std::max(0.0, 1 - d);
    if (d < 1)
      return 1.5 * d * d * d - 2.5 * d * d + 1;
    return d < 2 ? -0.5 * d * d * d + 2.5 * d * d - 4 * d + 2 : 0.0;
  };
  const auto sy = static_cast<double>(h) / static_cast<double>(oh);
  const auto sx = static_cast<double>(w) / static_cast<double>(ow);
  const auto wide_y = antialias ? std::max(1.0, sy) : 1.0,
             wide_x = antialias ? std::max(1.0, sx) : 1.0;
  double sum = 0, weights = 0;
  for (int64_t i = 0; i < h; ++i)
    for (int64_t j = 0; j < w; ++j) {
      const auto part =
        weight((static_cast<double>(i) + 0.5 - (static_cast<double>(y) + 0.5) * sy) / wide_y)
        * weight((static_cast<double>(j) + 0.5 - (static_cast<double>(x) + 0.5) * sx) / wide_x);
      sum += part * in[static_cast<size_t>((i * w + j) * c + channel)];
      weights += part;
    }
  return sum / weights;
}

TEST(Resize, IsAWeightedMeanOfPixels) {
  for (const auto [h, w, c, oh, ow] : {std::array<int64_t, 5>{9, 11, 3, 5, 4},
                                       {4, 3, 1, 9, 8},
                                       {7, 5, 2, 7, 5},
                                       {1, 1, 4, 3, 2},
                                       {6, 8, 5, 1, 1},
                                       {23, 2, 3, 4, 7}}) {
    const auto values = pixels(static_cast<size_t>(h * w * c));
    auto out =
      apply_everywhere({tensors<uint8_t>(values, {h, w, c})}, [&, oh = oh, ow = ow](expr x) {
        using image::method;
        return std::tuple{
          image::resize(x, oh, ow), image::resize(x, oh, ow, method::bilinear, {.antialias = true}),
          image::resize(x, oh, ow, method::bicubic),
          image::resize(cast<float>(x), oh, ow, method::bicubic, {.antialias = true})};
      });
    for (size_t i = 0; i < 4; ++i) {
      const auto got = values_of<float>(out.columns[i]);
      size_t at = 0;
      for (int64_t y = 0; y < oh; ++y)
        for (int64_t x = 0; x < ow; ++x)
          for (int64_t channel = 0; channel < c; ++channel)
            ASSERT_NEAR(got[at++],
                        resized(values, h, w, c, oh, ow, y, x, channel, i >= 2, i % 2 == 1), 0.01)
              << h << " by " << w << " to " << oh << " by " << ow << ", way " << i;
    }
  }
}

TEST(Resize, TakesTheNearestOrTheMeanOfAnArea) {
  auto out = apply_everywhere({tensors<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4, 1})}, [](expr x) {
    using image::method;
    return std::tuple{image::resize(x, 1, 2, method::nearest),
                      image::resize(x, 4, 4, method::nearest), image::resize(x, 1, 2, method::area),
                      image::resize(x, 2, 3, method::area),
                      image::resize(x, 10, 2, method::nearest, {.preserve_aspect_ratio = true})};
  });
  EXPECT_EQ(values_of<uint8_t>(out.columns[0]), (std::vector<uint8_t>{6, 8}));
  EXPECT_EQ(values_of<uint8_t>(out.columns[1]),
            (std::vector<uint8_t>{1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8}));
  EXPECT_EQ(values_of<float>(out.columns[2]), (std::vector<float>{3.5f, 5.5f}));
  const float thirds[] = {1.25f, 2.5f, 3.75f, 5.25f, 6.5f, 7.75f};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(out.columns[3].values<float>()[i], thirds[i], 1e-5);
  EXPECT_EQ(to_string(out.columns[4].row_shape()), "[1, 2, 1]");
}

TEST(Resize, ChecksItsArguments) {
  const auto picture = constant(std::vector<uint8_t>(12), shape{2, 2, 3});
  EXPECT_EQ(
    thrown_by([&] { image::resize(picture, 0, 3); }),
    "image.resize: extents [0, 3]; height and width are needed, at least 1 each and at most "
    "268435456 pixels");
  EXPECT_EQ(
    thrown_by([] { image::resize(constant(std::vector<float>{1}), 2, 2); }),
    "image.resize: the image has shape [1]; [height, width, channels] is needed, or a number "
    "of these");
  EXPECT_EQ(thrown_by([&] { image::resize(cast<int64_t>(picture), 2, 2); }),
            "image.resize: the image is int64[2, 2, 3]; cast it to float32");
  auto out = apply_everywhere({column::dense(dtype::uint8, {0, 3, 1}, 2, {})},
                              [](expr x) { return image::resize(x, 2, 2); });
  EXPECT_EQ(errors_of(out), (list{"0: image.resize: an image without pixels cannot be resized",
                                  "1: image.resize: an image without pixels cannot be resized"}));
}

TEST(Resize, WorksOnImagesOfDifferentSizesAndOnSeveralAtOnce) {
  auto made = apply({tensors<uint8_t>(pixels(2 * 6 * 4 * 3), {2, 6, 4, 3})}, [](expr x) {
    return std::tuple{image::resize(x, 3, 5),
                      stack({image::resize(x[0], 3, 5), image::resize(x[1], 3, 5)})};
  });
  EXPECT_EQ(values_of<float>(made.columns[0]), values_of<float>(made.columns[1]));
  auto files = apply({tensors<int32_t>({2, 3, 5}, {1})}, [](expr n) {
    const auto big = constant(pixels(300), shape{10, 10, 3});
    return image::encode_png(
      slice(big, constant(std::vector<int>{0, 0, 0}), concat({n, n, n / n * 3}, 0)));
  });
  auto out = apply_everywhere({files.columns[0]}, [](expr s) {
    return std::tuple{image::resize(image::decode_png(s, 3), 4, 4), image::decode_png(s, 3)};
  });
  EXPECT_TRUE(out.errors.empty());
  EXPECT_FALSE(out.columns[1].is_dense());
  EXPECT_EQ(to_string(out.columns[0].row_shape()), "[4, 4, 3]");
}

TEST(Crop, TakesPartsAndPutsThemOnCanvases) {
  std::vector<int32_t> values(4 * 6);
  std::iota(values.begin(), values.end(), 0);
  auto out = apply_everywhere(
    {tensors<int32_t>(values, {4, 6, 1}), scalars<int32_t>({2})}, [](expr x, expr left) {
      return std::tuple{
        image::crop_to_bounding_box(x, 1, left, 2, 3), image::central_crop(x, 0.5),
        image::pad_to_bounding_box(image::crop_to_bounding_box(x, 0, 0, 1, 2), 1, 1, 3, 4),
        image::resize_with_crop_or_pad(x, 2, 8)};
    });
  EXPECT_EQ(values_of<int32_t>(out.columns[0]), (std::vector<int32_t>{8, 9, 10, 14, 15, 16}));
  EXPECT_EQ(values_of<int32_t>(out.columns[1]),
            (std::vector<int32_t>{7, 8, 9, 10, 13, 14, 15, 16}));
  EXPECT_EQ(values_of<int32_t>(out.columns[2]),
            (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values_of<int32_t>(out.columns[3]),
            (std::vector<int32_t>{0, 6, 7, 8, 9, 10, 11, 0, 0, 12, 13, 14, 15, 16, 17, 0}));
  out = apply_everywhere(
    {tensors<int32_t>(values, {4, 6, 1}), scalars<int32_t>({5})},
    [](expr x, expr left) { return image::crop_to_bounding_box(x, 1, left, 2, 3); });
  EXPECT_EQ(errors_of(out), (list{"0: slice: 3 values from 5 on along axis 1 of [4, 6, 1]"}));
  const auto picture = constant(values, shape{4, 6, 1});
  EXPECT_EQ(thrown_by([&] { image::pad_to_bounding_box(picture, 0, 3, 4, 8); }),
            "image.pad_to_bounding_box: an image of [4, 6, 1] does not fit [4, 8] at [0, 3]");
  EXPECT_EQ(thrown_by([&] { image::central_crop(picture, 1.5); }),
            "image.central_crop: fraction 1.5; it is in (0, 1]");
}

TEST(Turns, MovePixels) {
  auto out = apply_everywhere({tensors<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3, 1})}, [](expr x) {
    return std::tuple{image::flip_left_right(x), image::flip_up_down(x), image::transpose(x),
                      image::rot90(x),           image::rot90(x, 2),     image::rot90(x, -1)};
  });
  const auto is = [&](size_t i, const std::vector<int32_t>& wanted) {
    EXPECT_EQ(values_of<int32_t>(out.columns[i]), wanted) << i;
  };
  is(0, {3, 2, 1, 6, 5, 4});
  is(1, {4, 5, 6, 1, 2, 3});
  is(2, {1, 4, 2, 5, 3, 6});
  is(3, {3, 6, 2, 5, 1, 4});
  is(4, {6, 5, 4, 3, 2, 1});
  is(5, {4, 1, 5, 2, 6, 3});
}

TEST(ConvertImageDtype, KeepsTheRange) {
  auto out = apply_everywhere({tensors<uint8_t>({0, 1, 128, 255}, {4})}, [](expr x) {
    const auto floats = image::convert_image_dtype(x, dtype::float32);
    const auto wide = image::convert_image_dtype(x, dtype::uint16);
    return std::tuple{floats,
                      image::convert_image_dtype(floats, dtype::uint8),
                      wide,
                      image::convert_image_dtype(wide, dtype::uint8),
                      image::convert_image_dtype(floats * 3.0f - 1.0f, dtype::uint8, true),
                      image::convert_image_dtype(floats, dtype::int32, true)};
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  EXPECT_EQ(out.columns[0].values<float>()[3], 1.0f);
  EXPECT_EQ(values_of<uint8_t>(out.columns[1]), (std::vector<uint8_t>{0, 1, 128, 255}));
  EXPECT_EQ(values_of<uint16_t>(out.columns[2]), (std::vector<uint16_t>{0, 256, 32768, 65280}));
  EXPECT_EQ(values_of<uint8_t>(out.columns[3]), (std::vector<uint8_t>{0, 1, 128, 255}));
  EXPECT_EQ(values_of<uint8_t>(out.columns[4]), (std::vector<uint8_t>{0, 0, 129, 255}));
  EXPECT_EQ(values_of<int32_t>(out.columns[5])[3], 2147483520);
  out = apply_everywhere({scalars<float>({0.5f, 1.5f})},
                         [](expr x) { return image::convert_image_dtype(x, dtype::uint8); });
  EXPECT_EQ(errors_of(out), (list{"1: cast: 383.25 does not fit uint8"}));
  EXPECT_EQ(thrown_by([] { image::convert_image_dtype("x", dtype::uint8); }),
            "image.convert_image_dtype: string[] does not become uint8; integers and floats do");
}

TEST(Colours, GoToHueAndBack) {
  auto out = apply_everywhere({tensors<float>({0.2f, 0.4f, 0.6f, 1, 0, 0, 0.5f, 0.5f, 0.5f}, {3})},
                              [](expr x) {
                                const auto hsv = image::rgb_to_hsv(x);
                                return std::tuple{hsv, image::hsv_to_rgb(hsv)};
                              });
  const float hsv[] = {7.0f / 12, 2.0f / 3, 0.6f, 0, 1, 1, 0, 0, 0.5f};
  const float rgb[] = {0.2f, 0.4f, 0.6f, 1, 0, 0, 0.5f, 0.5f, 0.5f};
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(out.columns[0].values<float>()[i], hsv[i], 1e-6);
    EXPECT_NEAR(out.columns[1].values<float>()[i], rgb[i], 1e-6);
  }
  EXPECT_EQ(thrown_by([] {
              image::rgb_to_hsv(constant(std::vector<float>{1, 2}));
            }),
            "image.rgb_to_hsv: the image has shape [2]; 3 channels are needed last");
}

TEST(RandomImages, FlipEachImageOfABatchByItself) {
  // Image i is one line of two pixels, i and -i - 1.
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 64; ++i) values.insert(values.end(), {i, -i - 1});
  const auto seed = constant(std::vector<int64_t>{3, 4});
  const auto first = [](const expr& x, int64_t n) {
    return reshape(x, {n, 2}).slice({at::ellipsis(), at::index(0)});
  };
  auto out = apply_everywhere({tensors<int64_t>(values, {64, 1, 2, 1})}, [&](expr x) {
    return std::tuple{
      first(image::stateless_random_flip_left_right(x, seed), 64),
      first(image::stateless_random_flip_left_right(
              headrace::slice(x, constant(std::vector<int64_t>(4)), {6, 1, 2, 1}), seed),
            6)};
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  const auto drawn = out.columns[0].values<int64_t>();
  const auto flipped = std::count_if(drawn.begin(), drawn.end(), [](int64_t x) { return x < 0; });
  EXPECT_GT(flipped, 15);
  EXPECT_LT(flipped, 49);
  // The first six images are flipped as TensorFlow flips them, in a batch of 6 and in one of 64.
  const auto six = out.columns[1].values<int64_t>();
  EXPECT_EQ(std::vector(six.begin(), six.end()), (std::vector<int64_t>{0, -2, 2, 3, -5, -6}));
  EXPECT_TRUE(
    std::equal(drawn.begin(), drawn.begin() + 6, out.columns[1].values<int64_t>().begin()));
  // Batches whose number of images is known only at run time.
  auto uneven = apply_everywhere({vectors<int64_t>({{1, 2}, {1, 2, 1, 2, 1, 2}})}, [&](expr x) {
    return reshape(image::stateless_random_flip_left_right(reshape(x, {-1, 1, 2, 1}), seed), {-1});
  });
  const auto last = uneven.columns[0].values<int64_t>().subspan(2);
  EXPECT_EQ(std::vector(last.begin(), last.end()), (std::vector<int64_t>{1, 2, 2, 1, 1, 2}));
}

TEST(Images, AreCutToWholeExtentsWhereTheyArePadded) {
  struct known { // extents; rows and columns [begin, end) that TensorFlow's image has
    int64_t from[2], to[2], rows[2], columns[2];
  };
  for (const auto& x : {known{{8, 10}, {14, 11}, {2, 10}, {0, 11}},
                        {{5, 7}, {9, 16}, {0, 9}, {1, 13}},
                        {{3, 3}, {10, 7}, {1, 8}, {0, 7}},
                        {{10, 3}, {8, 8}, {0, 8}, {2, 4}},
                        {{7, 13}, {20, 20}, {4, 14}, {0, 20}},
                        {{10, 10}, {33, 47}, {0, 33}, {7, 40}},
                        {{4, 6}, {9, 9}, {1, 7}, {0, 9}}}) {
    auto out = apply_everywhere({tensors<float>({1}, {})}, [&](expr one) {
      const auto picture = fill({x.from[0], x.from[1], 1}, one);
      const auto padded =
        reduce_max(image::resize_with_pad(picture, x.to[0], x.to[1], image::method::nearest), {2});
      return std::tuple{reduce_sum(padded, {0}), reduce_sum(padded, {1})};
    });
    ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
    const auto across = out.columns[0].values<float>(), down = out.columns[1].values<float>();
    for (int64_t i = 0; i < x.to[0]; ++i)
      EXPECT_EQ(down[static_cast<size_t>(i)] > 0, i >= x.rows[0] && i < x.rows[1]) << i;
    for (int64_t i = 0; i < x.to[1]; ++i)
      EXPECT_EQ(across[static_cast<size_t>(i)] > 0, i >= x.columns[0] && i < x.columns[1]) << i;
  }
}

TEST(RandomImages, DependOnTheSeedAlone) {
  std::vector<int64_t> seeds;
  for (int64_t i = 0; i < 40; ++i) seeds.insert(seeds.end(), {i, 7});
  auto out = apply_everywhere({tensors<int64_t>(seeds, {2})}, [](expr seed) {
    const auto picture = constant(pixels(6 * 5 * 3), shape{6, 5, 3});
    return std::tuple{image::stateless_random_flip_left_right(picture, seed),
                      image::stateless_random_crop(picture, {3, 4, 3}, seed),
                      image::stateless_random_brightness(picture, 0.3, seed),
                      image::stateless_random_contrast(picture, 0.5, 1.5, seed),
                      image::stateless_random_saturation(picture, 0.5, 1.5, seed),
                      image::stateless_random_hue(picture, 0.2, seed)};
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  std::vector<std::string> flips;
  for (size_t r = 0; r < 40; ++r) flips.push_back(print_row(out.columns[0], r));
  std::sort(flips.begin(), flips.end());
  EXPECT_EQ(std::unique(flips.begin(), flips.end()) - flips.begin(), 2);
  const auto seed = constant(std::vector<int64_t>{1, 2});
  EXPECT_EQ(thrown_by([&] {
              image::stateless_random_crop(constant(pixels(4), shape{2, 2, 1}), {3, 1, 1}, seed);
            }),
            "slice: size 3 along axis 0 of [2, 2, 1]");
  auto small = apply_everywhere({vectors<int32_t>({{1, 2, 3}, {4}})},
                                [&](expr x) { return image::stateless_random_crop(x, {2}, seed); });
  EXPECT_EQ(errors_of(small), (list{"1: debugging.assert_greater_equal: stateless_random_crop: the "
                                    "tensor is smaller than the crop: x = [1], y = [2]"}));
  EXPECT_EQ(thrown_by([] {
              image::stateless_random_hue(constant(std::vector<float>(3)), 0.6,
                                          constant(std::vector<int>{1, 2}));
            }),
            "image.stateless_random_hue: max_delta 0.6; it is in [0, 0.5]");
}

} // namespace
} // namespace headrace::detail
