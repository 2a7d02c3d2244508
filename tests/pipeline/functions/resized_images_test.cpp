#include "headrace/pipeline/functions/control.hpp"
#include "headrace/pipeline/functions/image.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/operations/image_codec.hpp"
#include "tests/pipeline/functions/everywhere.hpp"
#include "tests/pipeline/functions/jpegs.hpp"
#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>

namespace headrace::detail {
namespace {

using namespace test;

/// A computation on a resized image and a number of the same row.
struct following {
  const char* name;
  std::function<std::vector<expr>(const expr& resized, const expr& number)> of;
};

const std::vector<float> mean{0.4f, 0.5f, 0.6f};

const following followings[] = {
  {"itself", [](const expr& x, const expr&) { return std::vector{x}; }},
  {"itself and bytes",
   [](const expr& x, const expr&) {
     return std::vector{x, cast<uint8_t>(round(x))};
   }},
  {"bytes", [](const expr& x, const expr&) { return std::vector{cast<uint8_t>(round(x))}; }},
  {"a mean of each channel",
   [](const expr& x, const expr&) { return std::vector{(x / 255.0f - constant(mean)) * 2.0f}; }},
  {"a number of the row",
   [](const expr& x, const expr& n) {
     return std::vector{x * n + 1.0f, x - n};
   }},
  {"some that fail",
   [](const expr& x, const expr& n) {
     return std::vector{cast<uint8_t>(x * n), cast<int8_t>(cast<int32_t>(x - n) / 2)};
   }},
  {"one that fails after another one",
   [](const expr& x, const expr& n) {
     const auto small = cast<uint8_t>(x * n);
     return std::vector{cast<int8_t>(small), small + uint8_t{1}};
   }},
  {"a choice of values",
   [](const expr& x, const expr& n) {
     return std::vector{cast<uint8_t>(where(x * n > 255.0f, 255.0f, x * n))};
   }},
  {"a choice of images, of which one fails",
   [](const expr& x, const expr& n) {
     return std::vector{where(n < 2.0f, cast<float>(cast<uint8_t>(x * 3.0f)), x)};
   }},
  {"a sum",
   [](const expr& x, const expr&) {
     return std::vector{reduce_sum(x * 0.5f), square(x)};
   }},
  {"what is as large",
   [](const expr& x, const expr&) {
     return std::vector{cast<uint8_t>(minimum(x + cast<float>(cast<uint8_t>(floor(x))), 255.0f))};
   }},
};

std::vector<std::string> print(const block& rows, size_t columns) {
  auto some = rows;
  some.columns.resize(columns);
  return print_rows(some);
}

std::string extents_of(const std::string& file) {
  const auto size = jpeg_size(file, 0, 1);
  return size ? fmt::format("{} x {} x {}", size->height, size->width, size->channels) : "none";
}

/// Compares the results of a function that decodes, cuts and resizes images and applies `then` with
/// the results of a function that does the same and also returns the decoded and the resized image,
/// so that both images are in memory as a whole.
void expect_as_of_whole_images(const std::vector<std::string>& files,
                               const std::vector<float>& numbers, const following& then,
                               const std::function<expr(const expr& file)>& decode,
                               const std::function<expr(const expr& image)>& part,
                               const std::function<expr(const expr& image)>& resize) {
  SCOPED_TRACE(then.name);
  size_t columns = 0;
  const auto results = [&](const expr& file, const expr& number, bool whole) {
    const auto image = decode(file);
    const auto resized = resize(part(image));
    auto out = then.of(resized, number);
    columns = out.size();
    if (whole)
      out.insert(out.end(), {resized, image});
    return expr_structure::tuple({out.begin(), out.end()});
  };
  const auto got = apply_everywhere({texts(files), scalars(numbers)},
                                    [&](expr s, expr n) { return results(s, n, false); });
  const auto wanted =
    apply({texts(files), scalars(numbers)}, [&](expr s, expr n) { return results(s, n, true); });
  const auto a = print(got, columns), b = print(wanted, columns);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(a[i], b[i]) << "file " << i << ": " << extents_of(files[i]);
}

expr itself(const expr& x) { return x; }

constexpr image::method blending[] = {image::method::bilinear, image::method::bicubic,
                                      image::method::area};

TEST(ResizedImages, HaveTheBitsOfWholeImagesThatAreResized) {
  const auto seed = test_seed();
  std::mt19937_64 random{seed};
  for (const bool damage : {false, true})
    for (const auto& then : followings) {
      const auto files = jpegs(random, 12, damage);
      std::vector<float> numbers;
      for (size_t i = 0; i < files.size(); ++i)
        numbers.push_back(static_cast<float>(random() % 400) / 100);
      const auto how = blending[random() % 3];
      const bool antialias = random() % 2 == 0;
      const auto ratio = int64_t{1} << random() % 3;
      const auto height = static_cast<int64_t>(random() % 120 + 1);
      const auto width = static_cast<int64_t>(random() % 120 + 1);
      const bool part = random() % 2 == 0;
      SCOPED_TRACE(fmt::format("{}, antialias {}, 1/{}, to {} by {}{}", static_cast<int>(how),
                               antialias, ratio, height, width, part ? ", of a part" : ""));
      expect_as_of_whole_images(
        files, numbers, then, [&](const expr& file) { return image::decode_jpeg(file, 3, ratio); },
        [&](const expr& x) { return part ? image::central_crop(x, 0.6) : x; },
        [&](const expr& x) {
          return image::resize(x, height, width, how, {.antialias = antialias});
        });
    }
}

TEST(ResizedImages, AreOfAnyFormatAndOfImagesInMemory) {
  std::mt19937_64 random{37};
  auto files = jpegs(random, 3, false);
  auto made = apply({tensors<uint8_t>(pixels(2 * 30 * 20 * 3), {30, 20, 3})},
                    [](expr x) { return image::encode_png(x); });
  files.insert(files.begin() + 1, std::string{made.columns[0].string(0)});
  files.emplace_back(made.columns[0].string(1).substr(0, 100));
  files.emplace_back("GIF89a");
  const std::vector<float> numbers{1, 2, 0.5, 1, 1, 3};
  for (const auto& then : followings) {
    const auto small = [](const expr& x) { return image::resize(x, 17, 23); };
    expect_as_of_whole_images(
      files, numbers, then, [](const expr& s) { return image::decode_image(s, 3); }, itself, small);
    expect_as_of_whole_images(
      files, numbers, then,
      [](const expr& s) { return image::decode_image(s, 3, {}, dtype::float32); }, itself, small);
    expect_as_of_whole_images(
      files, numbers, then, [](const expr& s) { return image::decode_image(s, 3); },
      image::flip_left_right, small);
    expect_as_of_whole_images(
      files, numbers, then, [](const expr& s) { return image::decode_image(s); }, itself, small);
  }
}

// A row fails if the part of the image that is resized has no pixels or lies outside of the image.
TEST(ResizedImages, OfPartsThatAreNoneFail) {
  std::mt19937_64 random{41};
  const auto files = jpegs(random, 4, false);
  const auto out = apply({texts(files)}, [](expr s) {
    const auto whole = image::decode_jpeg(s, 3);
    return cast<uint8_t>(
      image::resize(slice(whole, numbers({0, 0, 0}), numbers({0, -1, -1})), 4, 4));
  });
  ASSERT_EQ(out.errors.size(), 4u);
  for (const auto& failed : out.errors)
    EXPECT_EQ(failed.why.message(), "image.resize: an image without pixels cannot be resized");
  const auto far = apply({texts(files)}, [](expr s) {
    return image::resize(image::crop_to_bounding_box(image::decode_jpeg(s, 3), 500, 0, 2, 2), 4, 4);
  });
  ASSERT_EQ(far.errors.size(), 4u);
  EXPECT_THAT(far.errors[0].why.message(), testing::StartsWith("image.decode_image: "));
}

// A branch decodes only the images of the rows for which the condition chooses it, so a damaged
// image of another row is no error.
TEST(ResizedImages, OfABranchFailOnlyWhereItIsChosen) {
  std::mt19937_64 random{43};
  auto files = jpegs(random, 4, false);
  files[1] = files[2] = "no image";
  const std::vector<uint8_t> chosen{1, 0, 1, 0};
  const auto out = apply({texts(files), scalars(chosen)}, [](expr s, expr c) {
    return cond(
      c == uint8_t{1},
      [&] { return cast<uint8_t>(round(image::resize(image::decode_jpeg(s, 3), 3, 2))); },
      [] {
        return constant(tensors(std::vector<uint8_t>(18, 7), {3, 2, 3}));
      });
  });
  ASSERT_EQ(out.errors.size(), 1u);
  EXPECT_EQ(out.errors[0].row, 2u);
  EXPECT_EQ(values_of<uint8_t>(out.columns[0].slice(3, 1)), std::vector<uint8_t>(18, 7));
  const auto all = apply({texts(files)}, [](expr s) {
    return cast<uint8_t>(round(image::resize(image::decode_jpeg(s, 3), 3, 2)));
  });
  EXPECT_EQ(values_of<uint8_t>(out.columns[0].slice(0, 1)),
            values_of<uint8_t>(all.columns[0].slice(0, 1)));
}

TEST(ResizedImages, AreDecodedAndResizedInOneCall) {
  const auto calls = [](auto&& f) {
    kernel_counter counter;
    std::mt19937_64 random{61};
    const auto made = trace(element_spec{tensor_spec{dtype::string, {}}}, f);
    compile(made).run(rows_of({texts(jpegs(random, 2, false))}), nullptr, counter);
    return counter.calls;
  };
  const auto small = [](expr s) { return image::resize(image::decode_jpeg(s, 3), 5, 5); };
  EXPECT_EQ(calls(small), 1u);
  EXPECT_EQ(calls([&](expr s) { return cast<uint8_t>(round(small(s))); }), 3u);
  EXPECT_EQ(calls([](expr s) {
              const auto whole = image::decode_jpeg(s, 3);
              return std::tuple{image::resize(whole, 5, 5), whole};
            }),
            2u);
}

// Two resized images and the shape of one decoded image are the same whether or not the function
// also returns the decoded image.
TEST(ResizedImages, OfOneDecodedImageShareIt) {
  std::mt19937_64 random{47};
  const auto files = jpegs(random, 3, false);
  const auto two = [](expr s) {
    const auto whole = image::decode_jpeg(s, 3);
    return std::tuple{cast<uint8_t>(round(image::resize(whole, 5, 5))), image::resize(whole, 7, 9),
                      shape_of(whole)};
  };
  const auto got = apply_everywhere({texts(files)}, two);
  const auto wanted = apply({texts(files)}, [&](expr s) {
    const auto [a, b, extents] = two(s);
    return std::tuple{a, b, extents, image::decode_jpeg(s, 3)};
  });
  EXPECT_EQ(print(got, 3), print(wanted, 3));
}

} // namespace
} // namespace headrace::detail
