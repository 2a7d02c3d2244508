#include "headrace/pipeline/functions/image.hpp"

#include "headrace/pipeline/functions/math.hpp"
#include "tests/pipeline/functions/everywhere.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>
#include <random>
#include <turbojpeg.h>

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

/// Pixels by chance; the seed is part of the test.
std::vector<uint8_t> pixels(size_t n, uint64_t seed = 5) {
  std::mt19937_64 random{seed};
  std::vector<uint8_t> out(n);
  for (auto& x : out) x = static_cast<uint8_t>(random());
  return out;
}

TEST(Png, ComesBackAsItWas) {
  for (int64_t channels = 1; channels <= 4; ++channels) {
    const auto values = pixels(static_cast<size_t>(2 * 5 * 7 * channels));
    auto out = apply_everywhere({tensors<uint8_t>(values, {5, 7, channels})}, [&](expr x) {
      return std::tuple{
        image::decode_png(image::encode_png(x)),
        image::decode_png(image::encode_png(x, 0), channels),
        image::decode_png(image::encode_png(cast<uint16_t>(x) * uint16_t{257}), 0, dtype::uint16)};
    });
    ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
    EXPECT_EQ(values_of<uint8_t>(out.columns[0]), values) << channels;
    EXPECT_EQ(values_of<uint8_t>(out.columns[1]), values) << channels;
    const auto wide = values_of<uint16_t>(out.columns[2]);
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(wide[i], values[i] * 257);
  }
}

// The results of TensorFlow's decode_png for these images.
TEST(Png, ColoursBecomeGreyAsTensorFlowMakesThem) {
  const std::vector<uint8_t> colours{255, 0,   0,   0,  255, 0,  0, 0, 255,
                                     255, 255, 255, 10, 20,  30, 3, 3, 3};
  std::vector<uint16_t> deep;
  for (const auto x : colours) deep.push_back(x == 255 ? 65535 : x);
  auto out = apply_everywhere(
    {tensors<uint8_t>(colours, {1, 6, 3}), tensors<uint16_t>(deep, {1, 6, 3})}, [](expr x, expr y) {
      const auto deep = image::encode_png(y);
      return std::tuple{image::decode_png(image::encode_png(x), 1),
                        image::decode_png(image::encode_png(x), 1, dtype::uint16),
                        image::decode_png(deep, 1, dtype::uint16), image::decode_png(deep, 1)};
    });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  EXPECT_EQ(values_of<uint8_t>(out.columns[0]), (std::vector<uint8_t>{76, 149, 29, 255, 18, 3}));
  EXPECT_EQ(values_of<uint16_t>(out.columns[1]),
            (std::vector<uint16_t>{76 * 257, 149 * 257, 29 * 257, 65535, 18 * 257, 3 * 257}));
  EXPECT_EQ(values_of<uint16_t>(out.columns[2]),
            (std::vector<uint16_t>{19594, 38467, 7474, 65535, 18, 3}));
  EXPECT_EQ(values_of<uint8_t>(out.columns[3]),
            (std::vector<uint8_t>{76, 150, 29, 255, 0, 0})); // the two last are below 1 of 255
}

TEST(Jpeg, ComesBackNearlyAndSmallerIfAskedTo) {
  std::vector<uint8_t> smooth;
  for (int y = 0; y < 37; ++y)
    for (int x = 0; x < 50; ++x)
      for (int c = 0; c < 3; ++c) smooth.push_back(static_cast<uint8_t>(2 * x + 2 * y + 20 * c));
  auto out = apply_everywhere({tensors<uint8_t>(smooth, {37, 50, 3})}, [](expr x) {
    const auto file = image::encode_jpeg(x);
    return std::tuple{
      image::decode_jpeg(file), image::decode_jpeg(file, 1), image::decode_jpeg(file, 3, 8),
      image::decode_image(file),
      image::decode_jpeg(image::encode_jpeg(x.slice({at::ellipsis(), at::range(0, 1)})))};
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  const auto back = values_of<uint8_t>(out.columns[0]);
  ASSERT_EQ(back.size(), smooth.size());
  for (size_t i = 0; i < back.size(); ++i) ASSERT_NEAR(back[i], smooth[i], 6);
  EXPECT_EQ(to_string(out.columns[1].row_shape()), "[37, 50, 1]");
  EXPECT_EQ(to_string(out.columns[2].row_shape()), "[5, 7, 3]");
  EXPECT_EQ(values_of<uint8_t>(out.columns[3]), back);
  EXPECT_EQ(to_string(out.columns[4].row_shape()), "[37, 50, 1]");
}

/// JPEGs of all kinds: sizes, chroma, progressive ones; some are damaged.
list jpegs(std::mt19937_64& random, int count, bool damage) {
  list out;
  for (int i = 0; i < count; ++i) {
    const auto width = static_cast<int>(random() % 90 + 1);
    const auto height = static_cast<int>(random() % 90 + 1);
    const bool grey = random() % 4 == 0;
    auto values = pixels(static_cast<size_t>(width * height * 3), random());
    if (random() % 2 == 0) // smooth
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

std::string to_string(const block& rows, size_t column, size_t row) {
  for (const auto& [at, why] : rows.errors)
    if (at == row)
      return "an error";
  return testing::PrintToString(values_of<uint8_t>(rows.columns[column].slice(row, 1)));
}

TEST(Jpeg, PartsOfItHaveTheBitsOfTheWholeAndFailWithIt) {
  const uint64_t seed = 29;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  for (const bool damage : {false, true})
    for (const int64_t ratio : {1, 1, 1, 2, 4, 8}) {
      const auto files = jpegs(random, 40, damage);
      const std::vector<double> from{random() % 101 / 100., random() % 101 / 100.};
      const std::vector<double> share{random() % 101 / 100., random() % 101 / 100.};
      const auto channels = std::vector<int64_t>{0, 1, 3}[random() % 3];
      /// A part of each image, by shares of its extents.
      const auto part_of = [&](const expr& image) {
        const auto extents = shape_of(image);
        std::vector<expr> begin, size;
        for (int64_t i = 0; i < 2; ++i) {
          const auto extent = cast<double>(extents[i]);
          begin.push_back(cast<int64_t>(extent * from[static_cast<size_t>(i)]));
          size.push_back(
            cast<int64_t>((extent - cast<double>(begin.back())) * share[static_cast<size_t>(i)]));
        }
        begin.push_back(constant(int64_t{0}));
        size.push_back(constant(int64_t{-1}));
        return slice(image, stack(begin), stack(size));
      };
      const auto parts = apply(
        {texts(files)}, [&](expr s) { return part_of(image::decode_jpeg(s, channels, ratio)); });
      // Where the image itself is a result, it is decoded as a whole.
      const auto wholes = apply({texts(files)}, [&](expr s) {
        const auto whole = image::decode_jpeg(s, channels, ratio);
        return std::tuple{part_of(whole), whole};
      });
      for (size_t i = 0; i < files.size(); ++i)
        ASSERT_EQ(to_string(parts, 0, i), to_string(wholes, 0, i)) << "file " << i;
      for (size_t i = 0; i < parts.errors.size(); ++i)
        EXPECT_EQ(parts.errors[i].why, wholes.errors[i].why);
    }
}

TEST(Jpeg, IsDecodedAtTheLeastScaleThatIsLargeEnough) {
  auto out = apply_everywhere({tensors<uint8_t>(pixels(60 * 80 * 3), {60, 80, 3})}, [](expr x) {
    const auto file = image::encode_jpeg(x);
    return std::tuple{
      image::decode_jpeg_at_least(file, 1, 1), image::decode_jpeg_at_least(file, 8, 10),
      image::decode_jpeg_at_least(file, 9, 10), image::decode_jpeg_at_least(file, 30, 41),
      shape_of(image::decode_jpeg_at_least(file, 30, 40, 1))};
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  EXPECT_EQ(to_string(out.columns[0].row_shape()), "[8, 10, 3]");
  EXPECT_EQ(to_string(out.columns[1].row_shape()), "[8, 10, 3]");
  EXPECT_EQ(to_string(out.columns[2].row_shape()), "[15, 20, 3]");
  EXPECT_EQ(to_string(out.columns[3].row_shape()), "[60, 80, 3]");
  EXPECT_EQ(values_of<int64_t>(out.columns[4]), (std::vector<int64_t>{30, 40, 1}));
}

TEST(ImageFiles, DamagedOnesAreErrorsOfTheirRows) {
  auto made = apply({tensors<uint8_t>(pixels(40 * 40 * 3), {40, 40, 3})}, [](expr x) {
    return std::tuple{image::encode_jpeg(x), image::encode_png(x)};
  });
  const std::string jpeg{made.columns[0].string(0)}, png{made.columns[1].string(0)};
  auto flipped = png;
  flipped[flipped.size() / 2] ^= 1;
  auto out = apply_everywhere({texts({jpeg, jpeg.substr(0, jpeg.size() / 2), png, png.substr(0, 60),
                                      flipped, "", "GIF89a", jpeg.substr(0, 3)})},
                              [](expr s) { return image::decode_image(s); });
  const auto errors = errors_of(out);
  ASSERT_EQ(errors.size(), 6u);
  EXPECT_THAT(errors[0], ::testing::HasSubstr("1: image.decode_image: no whole JPEG: "));
  EXPECT_THAT(errors[1], ::testing::HasSubstr("3: image.decode_image: no whole PNG: "));
  EXPECT_THAT(errors[2], ::testing::HasSubstr("4: image.decode_image: no whole PNG: "));
  EXPECT_EQ(errors[3], "5: image.decode_image: 0 bytes that begin with [] are no JPEG or PNG");
  EXPECT_EQ(errors[4],
            "6: image.decode_image: 6 bytes that begin with [47 49 46 38] are no JPEG or PNG");
  EXPECT_THAT(errors[5], ::testing::HasSubstr("7: image.decode_image: no whole JPEG: "));
}

TEST(ImageFiles, MutantsNeverDoMoreThanFail) {
  const uint64_t seed = 23;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  auto made = apply({tensors<uint8_t>(pixels(20 * 30 * 3), {20, 30, 3})}, [](expr x) {
    return std::tuple{image::encode_jpeg(x), image::encode_png(x)};
  });
  list files;
  for (int i = 0; i < 400; ++i) {
    auto file = std::string{made.columns[static_cast<size_t>(i % 2)].string(0)};
    for (auto n = random() % 4 + 1; n > 0; --n)
      file[random() % file.size()] = static_cast<char>(random());
    if (random() % 4 == 0)
      file.resize(random() % file.size());
    files.push_back(file);
  }
  const auto out = apply({texts(files)}, [](expr s) { return image::decode_image(s, 3); });
  EXPECT_EQ(out.rows, files.size());
  EXPECT_FALSE(out.errors.empty());
}

TEST(ImageFiles, CheckTheirArguments) {
  EXPECT_EQ(thrown_by([] { image::decode_jpeg("", 2); }),
            "image.decode_image: 2 channels; there can be 0 (as in the file), 1, or 3");
  EXPECT_EQ(thrown_by([] { image::decode_jpeg("", 3, 3); }),
            "image.decode_image: ratio 3; JPEGs can be divided by 1, 2, 4 or 8 while decoding");
  EXPECT_EQ(thrown_by([] { image::decode_png("", 3, dtype::float32); }),
            "image.decode_image: float32 was asked for; there is uint8 and uint16");
  EXPECT_EQ(thrown_by([] {
              image::encode_jpeg(constant(std::vector<float>(12), shape{2, 2, 3}));
            }),
            "image.encode_image: the image is float32[2, 2, 3]; uint8 is needed");
  EXPECT_EQ(thrown_by([] {
              image::encode_jpeg(constant(std::vector<uint8_t>(12), shape{2, 2, 3}), 0);
            }),
            "image.encode_image: quality 0; it is in [1, 100]");
}

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
  // Image i is a line of i and -i - 1.
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
  // Flipped as TensorFlow flips them, in blocks of any size.
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
  struct known { // height and width, in and out, then where TensorFlow puts the image
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
