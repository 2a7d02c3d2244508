#include "headrace/pipeline/functions/control.hpp"
#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/image.hpp"
#include "headrace/pipeline/functions/random.hpp"
#include "tests/pipeline/functions/rows_expected.hpp"

namespace headrace::detail {
namespace {

using namespace test;

/// Six pairs of an image of 8 by 8 pixels and the digit that it shows.
dataset_ptr digits() {
  const auto six =
    make_take(records(test::data_path("digits/digits-gzip.tfrecord"), file_compression::gzip), 6)
      .value();
  return map(six, [](expr x) {
    const auto digit = io::parse_example(x, {io::fixed_len_feature("image", {}, dtype::string),
                                             io::fixed_len_feature("label", {}, dtype::int64)});
    return std::pair{reshape(io::decode_raw<uint8_t>(digit["image"]), {8, 8}), digit["label"]};
  });
}
dataset_ptr squares() {
  return map(digits(), [](expr image, expr) {
    return cast<int64_t>(image.slice({at::range(1, 5), at::range(2, 6)}));
  });
}
/// The columns of `x` that a slice names.
expr columns(const expr& x, slice_spec which) { return x.slice({at::all(), which}); }

TEST(RowsAgainstTensorFlow, Reductions) {
  expect_same("reductions", squares(), [](expr x) {
    return expr_structure::tuple(
      {reduce_sum(x), reduce_max(x, {0}), reduce_min(x, {1}, true), reduce_prod(x + 1, {0, 1}),
       thousandths(reduce_mean(cast<float>(x), {1})), reduce_any(x > 12, {0}),
       reduce_all(x > 2, {1}), argmax(x, 0), argmin(x, 1)});
  });
}

TEST(RowsAgainstTensorFlow, Movements) {
  expect_same("moved", squares(), [](expr x) {
    return expr_structure::tuple(
      {transpose(x), reverse(x, {1}), roll(x, {1, -1}, {0, 1}), tile(x.slice(0, 1), {2, 1}),
       pad(x.slice({at::range(1, 3), at::range(1, 3)}), {{1, 0}, {0, 2}}, expr{int64_t{-1}}),
       pad(columns(x, at::index(0)), {{2, 3}}, pad_mode::reflect),
       pad(x[0], {{1, 2}}, pad_mode::symmetric), stack({x[0], x[1]}, 1),
       concat({columns(x, at::until(1)), columns(x, at::from(2))}, 1),
       slice(x, numbers({1, 0}), {-1, 2}), expand_dims(x[0], 1),
       x.slice({at::all(-2), at::index(3)})});
  });
  expect_same("gathered along an axis", digits(), [](expr image, expr label) {
    return gather(image, stack({label % 8, 7 - label % 8}), 1);
  });
  expect_same("one hot along an axis", digits(), [](expr, expr label) {
    return one_hot(stack({label, expr{int64_t{9}}, expr{int64_t{-1}}}), 10, 3, 1, 0);
  });
}

TEST(RowsAgainstTensorFlow, Choices) {
  expect_same("chosen", digits(), [](expr image, expr label) {
    return std::tuple{
      where(image[2] > 8, image[2], image[3]), clip_by_value(image[4], 3, 9),
      cond(
        label > 2, [&] { return cast<uint8_t>(label); }, [&] { return image[2][2]; })};
  });
  expect_same("loop", test::range(1, 13), [](expr x) {
    return while_loop(
      [](expr_structure at) { return at[0] > 1; },
      [](expr_structure at) {
        const auto n = at[0];
        return expr_structure::tuple({where(n % 2 == 0, floor_div(n, 2), 3 * n + 1), at[1] + 1});
      },
      expr_structure::tuple({x, x * 0}), 25);
  });
}

TEST(RowsAgainstTensorFlow, Arithmetic) {
  const auto signed_ones = map(squares(), [](expr x) { return std::pair{x[0] - 7, x[1] % 5 + 1}; });
  expect_same("divided", signed_ones, [](expr x, expr y) {
    return expr_structure::tuple({floor_div(x, y), floor_mod(x, y), x / y, floor_mod(-x, y),
                                  pow(x, 3), sign(x), abs(x), x & y, x ^ y, x << y, x >> y});
  });
  expect_same("division by zero", squares(), [](expr x) { return floor_div(x[0], x[1]); });
  const auto real = map(squares(), [](expr x) { return cast<float>(x[2]) / 8.0f - 1.0f; });
  expect_same("thousandths", real, [](expr x) {
    return thousandths(
      stack({exp(x), sin(x), cos(x), tanh(x), square(x), sqrt(abs(x)), log(x + 1.5f)}));
  });
  expect_same("rounded", real, [](expr x) {
    return std::tuple{cast<int32_t>(round(x * 4.0f)), cast<int32_t>(floor(x * 3.0f)),
                      cast<int32_t>(ceil(x * 3.0f))};
  });
}

TEST(RowsAgainstTensorFlow, OrderAndSums) {
  expect_same("sorted rows", squares(), [](expr x) {
    const auto top = math::top_k(x, 2);
    return expr_structure::tuple(
      {sort(x, 0), argsort(x, 1, true), top.values, top.indices, cumsum(x, 1), cumsum(x, 0, true),
       math::cumprod(x, 1, false, true), matmul(x, x), matmul(x, x.slice(0, 2), false, true)});
  });
}

TEST(RowsAgainstTensorFlow, Assertions) {
  const auto real = map(squares(), [](expr x) { return cast<float>(x[2]) / 8.0f - 1.0f; });
  expect_same("finite", real, [](expr x) {
    return thousandths(
      debugging::check_numerics(where(x[0] > 0.0f, 1.0f / (x - x[1]), x), "quotient"));
  });
  expect_same("asserted", squares(), [](expr x) { return debugging::assert_less(x[0], x[1] + 3); });
}

TEST(RowsAgainstTensorFlow, RandomNumbers) {
  expect_same("uniform", test::range(0, 8), [](expr i) {
    const auto seed = stack({i, expr{int64_t{5}}});
    return std::tuple{random::stateless_uniform({3}, seed, -50, 50),
                      cast<int64_t>(random::stateless_uniform({3}, seed, -50.0f, 50.0f) * 4096.0f),
                      thousandths(random::stateless_normal({3}, seed)),
                      thousandths(random::stateless_truncated_normal({3}, seed))};
  });
}

// -- images ---------------------------------------------------------------------------

dataset_ptr crops() {
  return map(records(test::expected_path("photos/crops.tfrecord")), [](expr x) {
    return io::parse_example(x, {io::fixed_len_feature("encoded", {}, dtype::string)})["encoded"];
  });
}
dataset_ptr corners() {
  return map(crops(), [](expr x) {
    return image::crop_to_bounding_box(image::decode_image(x, 3), 20, 30, 4, 5);
  });
}

TEST(RowsAgainstTensorFlow, TurnedImages) {
  expect_same("kinds of pixels", crops(),
              [](expr x) { return shape_of(image::decode_image(x, 1)); });
  expect_same("turned", corners(), [](expr x) {
    const auto part = x.slice({at::until(2), at::until(2), at::until(1)});
    return expr_structure::tuple({image::flip_left_right(x)[0], image::flip_up_down(x)[0],
                                  image::transpose(x)[1], image::rot90(x)[0],
                                  image::crop_to_bounding_box(x, 1, 2, 2, 2),
                                  image::pad_to_bounding_box(part, 1, 0, 4, 3)});
  });
  expect_same("fitted and filled", corners(), [](expr x) {
    return cast<int32_t>(
      columns(image::resize_with_pad(x, 6, 6, image::method::nearest), at::index(2)));
  });
}

TEST(RowsAgainstTensorFlow, PixelsOfOtherKinds) {
  expect_same("grey again", corners(), [](expr x) {
    return image::grayscale_to_rgb(x.slice({at::until(1), at::until(3), at::until(1)}));
  });
  expect_same("colours again", corners(), [](expr x) {
    const auto real = image::convert_image_dtype(x.slice(0, 2), dtype::float32);
    return cast<int32_t>(round(image::hsv_to_rgb(image::rgb_to_hsv(real)) * 255.0f));
  });
  expect_same("dtypes", corners(), [](expr x) {
    const auto two = x[0].slice(0, 2);
    return std::pair{cast<int32_t>(image::convert_image_dtype(two, dtype::float32) * 255.0f),
                     image::convert_image_dtype(cast<float>(two) / 200.0f, dtype::uint8, true)};
  });
  expect_same("encoded losslessly", corners(),
              [](expr x) { return image::decode_png(image::encode_png(x)); });
  expect_same("damaged", crops(), [](expr x) {
    return shape_of(image::decode_image(strings::substr(x, expr{int64_t{0}}, expr{int64_t{400}})));
  });
}

} // namespace
} // namespace headrace::detail
