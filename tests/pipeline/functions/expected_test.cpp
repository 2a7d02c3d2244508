#include "headrace/pipeline/functions/image.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "tests/pipeline/functions/everywhere.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/support/paths.hpp"

#include <fstream>
#include <sstream>

/// The results of functions on real data, compared with those of TensorFlow: tests/data/expected.
namespace headrace::detail {
namespace {

using namespace test;
using image::method;
using list = std::vector<std::string>;

std::string data(const std::string& name) { return test::expected_path(name); }

std::string read(const std::string& name) {
  std::ifstream in{data("expected/" + name), std::ios::binary};
  EXPECT_TRUE(in) << name;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

list lines(const std::string& name) {
  std::istringstream in{read(name)};
  list out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// Compares each value of `got` with the file `name`: it may differ by `tolerance`.
template <class T>
void expect_near(const column& got, const std::string& name, double tolerance) {
  SCOPED_TRACE(name);
  const auto bytes = read(name);
  const auto file = buffer::copy_of(bytes.data(), bytes.size());
  const auto wanted = file.as<T>();
  ASSERT_EQ(got.type(), dtype_of<T>);
  const auto all = got.values<T>();
  ASSERT_EQ(all.size(), wanted.size());
  // A NaN fails, too: it is not less than or equal to anything.
  for (size_t i = 0; i < wanted.size(); ++i)
    ASSERT_LE(std::abs(static_cast<double>(all[i]) - static_cast<double>(wanted[i])), tolerance)
      << "value " << i;
}

/// The records of a file as scalar strings.
column records_of(const std::string& name) {
  auto graph = make_tfrecord(make_constant(texts({data(name)}).reshaped({1}, 1)).value()).value();
  const iterator_context context;
  auto from = make_iterator(graph, context).value();
  std::vector<std::string> out;
  while (auto block = from->next({1, 1 << 20}))
    for (size_t r = 0; r < block->rows; ++r) out.emplace_back(block->columns[0].string(r));
  return texts(out);
}

/// The encoded photographs: two JPEGs and a PNG.
column files() {
  auto parsed = apply({records_of("photos/crops.tfrecord")}, [](expr record) {
    return io::parse_example(record, {io::fixed_len_feature("encoded", {}, dtype::string)});
  });
  return parsed.columns[0];
}

TEST(AgainstTensorFlow, ParseExample) {
  auto out = apply_everywhere({records_of("photos/crops.tfrecord")}, [](expr record) {
    return io::parse_example(record, {io::fixed_len_feature("label", {}, dtype::int64),
                                      io::fixed_len_feature("box", {4}, dtype::float32),
                                      io::fixed_len_feature("name", {}, dtype::string)});
  });
  EXPECT_TRUE(out.errors.empty());
  expect_near<int64_t>(out.columns[0], "labels.i64", 0);
  expect_near<float>(out.columns[1], "boxes.f32", 0);
  EXPECT_EQ(texts_of(out.columns[2]), lines("names.txt"));
}

TEST(AgainstTensorFlow, SequencesOfTokens) {
  auto out = apply_everywhere({records_of("sentences.tfrecord")}, [](expr record) {
    return io::parse_example(record, {io::fixed_len_sequence_feature("tokens", {}, dtype::int64)});
  });
  ASSERT_TRUE(out.errors.empty());
  // TensorFlow parsed the records as one batch, in which shorter rows are filled with -1.
  const auto bytes = read("tokens.i64");
  const auto file = buffer::copy_of(bytes.data(), bytes.size());
  const auto wanted = file.as<int64_t>();
  const auto& tokens = out.columns[0];
  const auto width = wanted.size() / out.rows;
  for (size_t r = 0; r < out.rows; ++r) {
    const auto n = static_cast<size_t>(tokens.shape_of(r)[0]);
    for (size_t i = 0; i < width; ++i)
      ASSERT_EQ(wanted[r * width + i],
                i < n ? tokens.values<int64_t>()[static_cast<size_t>(tokens.first_value(r)) + i]
                      : -1);
  }
}

TEST(AgainstTensorFlow, DecodedFilesAreTheSame) {
  auto out = apply_everywhere({files().slice(0, 1), files().slice(2, 1)}, [](expr jpeg, expr png) {
    const auto corner = [](const expr& x, int64_t n) {
      return image::crop_to_bounding_box(x, 0, 0, n, n);
    };
    return std::tuple{image::decode_jpeg(jpeg, 0, 8), corner(image::decode_jpeg(jpeg, 0, 2), 16),
                      corner(image::decode_image(jpeg), 24),
                      corner(image::decode_jpeg(jpeg, 1), 24),
                      corner(image::decode_image(png), 24)};
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  expect_near<uint8_t>(out.columns[0], "jpeg_ratio_8.u8", 0);
  expect_near<uint8_t>(out.columns[1], "jpeg_ratio_2.u8", 0);
  expect_near<uint8_t>(out.columns[2], "jpeg_corner.u8", 0);
  expect_near<uint8_t>(out.columns[3], "jpeg_grey_corner.u8", 0);
  expect_near<uint8_t>(out.columns[4], "png_corner.u8", 0);
}

TEST(AgainstTensorFlow, ResizedImagesDifferByLessThanAThousandthOfALevel) {
  auto out = apply_everywhere({files().slice(0, 1)}, [](expr file) {
    const auto whole = image::decode_jpeg(file, 3);
    const auto small = image::crop_to_bounding_box(whole, 0, 0, 9, 11);
    std::vector<expr_structure> all;
    for (auto how : {method::bilinear, method::bicubic})
      for (bool antialias : {false, true}) {
        all.emplace_back(image::resize(whole, 13, 17, how, {.antialias = antialias}));
        all.emplace_back(image::resize(small, 20, 31, how, {.antialias = antialias}));
      }
    for (auto how : {method::area, method::nearest}) {
      all.emplace_back(image::resize(whole, 13, 17, how));
      all.emplace_back(image::resize(small, 20, 31, how));
    }
    all.emplace_back(
      image::resize(whole, 13, 30, method::bilinear, {.preserve_aspect_ratio = true}));
    return expr_structure::tuple(all);
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  size_t i = 0;
  for (const auto* name :
       {"bilinear", "bilinear_antialias", "bicubic", "bicubic_antialias", "area"}) {
    // Without antialias TensorFlow rounds cubic weights to a table of 1024 entries.
    const auto tolerance = std::string_view{name} == "bicubic" ? 0.25 : 1e-3;
    expect_near<float>(out.columns[i++], std::string{"shrunk_"} + name + ".f32", tolerance);
    expect_near<float>(out.columns[i++], std::string{"grown_"} + name + ".f32", tolerance);
  }
  expect_near<uint8_t>(out.columns[i++], "shrunk_nearest.u8", 0);
  expect_near<uint8_t>(out.columns[i++], "grown_nearest.u8", 0);
  expect_near<float>(out.columns[i++], "fitted.f32", 1e-3);
}

TEST(AgainstTensorFlow, ColoursDifferByOneLevelAtMost) {
  auto out = apply_everywhere({files().slice(0, 1)}, [](expr file) {
    const auto corner = image::crop_to_bounding_box(image::decode_jpeg(file, 3), 0, 0, 16, 20);
    return expr_structure::tuple(
      {image::adjust_brightness(corner, 0.2), image::adjust_contrast(corner, 1.7),
       image::adjust_saturation(corner, 0.4), image::adjust_hue(corner, 0.3),
       image::adjust_gamma(corner, 1.5, 0.9), image::rgb_to_grayscale(corner),
       image::rgb_to_hsv(image::convert_image_dtype(corner, dtype::float32)),
       image::convert_image_dtype(corner, dtype::uint16), image::per_image_standardization(corner),
       image::rot90(corner, 3), image::central_crop(corner, 0.55),
       image::resize_with_crop_or_pad(corner, 11, 27)});
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  expect_near<uint8_t>(out.columns[0], "brightness.u8", 1);
  expect_near<uint8_t>(out.columns[1], "contrast.u8", 1);
  expect_near<uint8_t>(out.columns[2], "saturation.u8", 1);
  expect_near<uint8_t>(out.columns[3], "hue.u8", 1);
  expect_near<uint8_t>(out.columns[4], "gamma.u8", 1);
  expect_near<uint8_t>(out.columns[5], "grey.u8", 1);
  expect_near<float>(out.columns[6], "hsv.f32", 1e-5);
  expect_near<uint16_t>(out.columns[7], "wide.u16", 0);
  expect_near<float>(out.columns[8], "standard.f32", 1e-4);
  expect_near<uint8_t>(out.columns[9], "rotated.u8", 0);
  expect_near<uint8_t>(out.columns[10], "central.u8", 0);
  expect_near<uint8_t>(out.columns[11], "padded.u8", 0);
}

TEST(AgainstTensorFlow, RandomImagesMakeTheSameChoices) {
  auto out = apply_everywhere({files().slice(0, 1)}, [](expr file) {
    const auto corner = image::crop_to_bounding_box(image::decode_jpeg(file, 3), 0, 0, 16, 20);
    const auto seed = constant(std::vector<int64_t>{3, 14});
    std::vector<expr> flips;
    for (int64_t i = 0; i < 8; ++i)
      flips.push_back(image::stateless_random_flip_left_right(
        image::crop_to_bounding_box(corner, 0, 0, 2, 3), constant(std::vector<int64_t>{i, 1})));
    return expr_structure::tuple({image::stateless_random_crop(corner, {5, 6, 3}, seed),
                                  stack(flips),
                                  image::stateless_random_brightness(corner, 0.4, seed),
                                  image::stateless_random_contrast(corner, 0.3, 1.9, seed),
                                  image::stateless_random_saturation(corner, 0.3, 1.9, seed),
                                  image::stateless_random_hue(corner, 0.5, seed)});
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  expect_near<uint8_t>(out.columns[0], "random_crop.u8", 0);
  expect_near<uint8_t>(out.columns[1], "random_flip.u8", 0);
  expect_near<uint8_t>(out.columns[2], "random_brightness.u8", 1);
  expect_near<uint8_t>(out.columns[3], "random_contrast.u8", 1);
  expect_near<uint8_t>(out.columns[4], "random_saturation.u8", 1);
  expect_near<uint8_t>(out.columns[5], "random_hue.u8", 1);
}

TEST(AgainstTensorFlow, Strings) {
  auto out = apply_everywhere({texts(lines("lines.txt"))}, [](expr s) {
    const auto chars = strings::unit::utf8_chars;
    return expr_structure::tuple(
      {strings::upper(s, strings::unit::utf8_chars), strings::lower(s, strings::unit::utf8_chars),
       strings::regex_replace(s, "([a-z]+)ing\\b", "<\\1>"),
       strings::regex_full_match(s, ".*\\bI\\b.*"),
       strings::to_hash_bucket_fast(s, int64_t{1} << 40), strings::length(s, chars),
       strings::substr(s, maximum(-7, -strings::length(s, chars)), 5, chars),
       strings::reduce_join(
         strings::ngrams(strings::split(s), {1, 3}, {.separator = "_", .pad_values = {{"<", ">"}}}),
         " ")});
  });
  ASSERT_TRUE(out.errors.empty()) << to_string(out.errors.front().why);
  EXPECT_EQ(texts_of(out.columns[0]), lines("upper.txt"));
  EXPECT_EQ(texts_of(out.columns[1]), lines("lower.txt"));
  EXPECT_EQ(texts_of(out.columns[2]), lines("replaced.txt"));
  expect_near<bool>(out.columns[3], "matched.bool", 0);
  expect_near<int64_t>(out.columns[4], "hashed.i64", 0);
  expect_near<int32_t>(out.columns[5], "characters.i32", 0);
  EXPECT_EQ(texts_of(out.columns[6]), lines("tails.txt"));
  EXPECT_EQ(texts_of(out.columns[7]), lines("ngrams.txt"));
}

TEST(AgainstTensorFlow, Numbers) {
  auto out = apply_everywhere({files().slice(0, 1)}, [](expr file) {
    const auto x =
      cast<float>(image::crop_to_bounding_box(image::decode_jpeg(file, 3), 0, 0, 16, 20)) / 255.0f;
    const auto channel = [&](int64_t i) { return x.slice({at::ellipsis(), at::index(i)}); };
    const auto top = math::top_k(channel(0), 3);
    return expr_structure::tuple({top.values, top.indices, argsort(channel(1), 0),
                                  cumsum(channel(2), 1, true, true),
                                  matmul(channel(0), channel(1), false, true)});
  });
  expect_near<float>(out.columns[0], "top_k.f32", 0);
  expect_near<int32_t>(out.columns[1], "top_k.i32", 0);
  expect_near<int32_t>(out.columns[2], "argsort.i32", 0);
  expect_near<float>(out.columns[3], "cumsum.f32", 1e-5);
  expect_near<float>(out.columns[4], "matmul.f32", 1e-5);
}

} // namespace
} // namespace headrace::detail
