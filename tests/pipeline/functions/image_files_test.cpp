#include "headrace/pipeline/functions/image.hpp"

#include "headrace/pipeline/functions/math.hpp"
#include "tests/pipeline/functions/everywhere.hpp"
#include "tests/pipeline/functions/jpegs.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <random>

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

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

// The expected values are the results of TensorFlow's decode_png for these images.
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
            (std::vector<uint8_t>{76, 150, 29, 255, 0, 0})); // 18 / 65535 is less than 1 / 255
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
      // A part of each image, with bounds that are shares of the image's extents.
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

// The expected values are the results of TensorFlow's decode_jpeg. The extents alone do not show
// the scale: at the scale 3/8 the image would have the same extents.
TEST(Jpeg, OfFewPixelsIsDecodedAtTheScaleThatIsAskedFor) {
  std::vector<uint8_t> few;
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 5; ++x)
      for (int c = 0; c < 3; ++c) few.push_back(static_cast<uint8_t>(20 * x + 60 * y + 10 * c));
  auto out = apply_everywhere({tensors<uint8_t>(few, {2, 5, 3})}, [](expr x) {
    return image::decode_jpeg(image::encode_jpeg(x, 95), 3, 4);
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  EXPECT_EQ(to_string(out.columns[0].row_shape()), "[1, 2, 3]");
  EXPECT_EQ(values_of<uint8_t>(out.columns[0]), (std::vector<uint8_t>{75, 85, 95, 125, 135, 145}));
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

// A PNG of 16 bits gives its values unchanged as uint16, and their upper 8 bits as uint8. A JPEG
// gives its 8-bit values multiplied by 256 as uint16.
TEST(ImageFiles, HaveTheDepthThatIsAskedFor) {
  constexpr size_t size = 6 * 5 * 3;
  std::vector<uint16_t> deep(size);
  std::mt19937_64 random{7};
  for (auto& x : deep) x = static_cast<uint16_t>(random());
  const auto in = [](const expr& file, dtype type) {
    return image::decode_image(file, 0, image::jpeg_transform::accurate, type);
  };
  auto out = apply_everywhere({tensors<uint16_t>(deep, {6, 5, 3})}, [&](expr x) {
    const auto png = image::encode_png(x);
    const auto jpeg = image::encode_jpeg(image::decode_png(png));
    const auto whole = in(png, dtype::float32);
    return std::tuple{in(png, dtype::uint16),
                      in(png, dtype::uint8),
                      whole,
                      in(jpeg, dtype::uint8),
                      in(jpeg, dtype::uint16),
                      in(jpeg, dtype::float32),
                      whole.slice({at::range(1, 4), at::range(2, 5)})};
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  EXPECT_EQ(values_of<uint16_t>(out.columns[0]), deep);
  const auto flat = values_of<uint8_t>(out.columns[1]);
  const auto unit = values_of<float>(out.columns[2]);
  const auto jpeg = values_of<uint8_t>(out.columns[3]);
  const auto wide = values_of<uint16_t>(out.columns[4]);
  const auto jpeg_unit = values_of<float>(out.columns[5]);
  for (size_t i = 0; i < size; ++i) {
    ASSERT_EQ(flat[i], deep[i] >> 8);
    ASSERT_EQ(unit[i], static_cast<float>(deep[i]) * (1.0F / 65535));
    ASSERT_EQ(wide[i], jpeg[i] * 256);
    ASSERT_EQ(jpeg_unit[i], static_cast<float>(jpeg[i]) * (1.0F / 255));
  }
  const auto part = values_of<float>(out.columns[6]);
  for (size_t y = 0; y < 3; ++y)
    for (size_t x = 0; x < 9; ++x) ASSERT_EQ(part[y * 9 + x], unit[((y + 1) * 5 + 2) * 3 + x]);
}

TEST(ImageFiles, CheckTheirArguments) {
  EXPECT_EQ(thrown_by([] { image::decode_jpeg("", 2); }),
            "image.decode_jpeg: 2 channels; there can be 0 (as in the file), 1, or 3");
  EXPECT_EQ(thrown_by([] { image::decode_jpeg("", 3, 3); }),
            "image.decode_jpeg: ratio 3; JPEGs can be divided by 1, 2, 4 or 8 while decoding");
  EXPECT_EQ(thrown_by([] { image::decode_png("", 3, dtype::float32); }),
            "image.decode_png: float32 was asked for; there is uint8 and uint16");
  EXPECT_EQ(
    thrown_by([] { image::decode_image("", 0, image::jpeg_transform::fast, dtype::float64); }),
    "image.decode_image: float64 was asked for; there is uint8, uint16 and float32");
  EXPECT_EQ(thrown_by([] {
              image::encode_jpeg(constant(std::vector<float>(12), shape{2, 2, 3}));
            }),
            "image.encode_jpeg: the image is float32[2, 2, 3]; uint8 is needed");
  EXPECT_EQ(thrown_by([] {
              image::encode_jpeg(constant(std::vector<uint8_t>(12), shape{2, 2, 3}), 0);
            }),
            "image.encode_jpeg: quality 0; it is in [1, 100]");
}

} // namespace
} // namespace headrace::detail
