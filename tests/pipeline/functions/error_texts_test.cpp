#include "headrace/pipeline/functions/image.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/random.hpp"
#include "headrace/pipeline/functions/sequences.hpp"
#include "tests/pipeline/functions/error_cases.hpp"

#include <set>

// The error messages of each function.

namespace headrace::detail {
namespace {

using namespace test;

std::vector<error_case> texts_and_files() {
  const auto parse = [](feature_spec what) {
    return on_one([=](expr) { return io::parse_example("", {what})[what.name]; });
  };
  return {
    {expr_op::string_length, on_one([](expr x) { return strings::length(x); }),
     "strings.length: an operand is int64[]; it must be strings"},
    {expr_op::string_upper, on_one([](expr x) { return strings::upper(x); }),
     "strings.upper: an operand is int64[]; it must be strings"},
    {expr_op::string_lower, on_one([](expr x) { return strings::lower(x); }),
     "strings.lower: an operand is int64[]; it must be strings"},
    {expr_op::string_split,
     on_one([](expr) { return strings::split(constant(std::vector<std::string>{"a"})); }),
     "strings.split: the string has shape [1]; a scalar is needed"},
    {expr_op::string_join, on_one([](expr x) {
       return strings::join({x, "a"});
     }),
     "strings.join: an operand is int64[]; it must be strings"},
    {expr_op::to_number, on_one([](expr) { return strings::to_number<int64_t>("ten"); }),
     "strings.to_number: 'ten' is no int64"},
    {expr_op::as_string, on_one([](expr) { return strings::as_string("a"); }),
     "strings.as_string: an operand is string[]; it must be integers, floats or bools"},
    {expr_op::string_strip, on_one([](expr x) { return strings::strip(x); }),
     "strings.strip: an operand is int64[]; it must be strings"},
    {expr_op::string_reduce_join, on_one([](expr) { return strings::reduce_join("a"); }),
     "strings.reduce_join: a scalar has no axis to join along"},
    {expr_op::regex_full_match, on_one([](expr) { return strings::regex_full_match("a", "("); }),
     "strings.regex_full_match: pattern '(': missing ): ("},
    {expr_op::regex_replace, on_one([](expr) { return strings::regex_replace("a", "a", "\\1"); }),
     "strings.regex_replace: rewrite '\\1': Rewrite schema requests 1 matches, but the regexp only "
     "has 0 parenthesized subexpressions."},
    {expr_op::substring, on(5, [](expr x) { return strings::substr("abc", x, 1); }),
     "strings.substr: position 5 in a string of 3 bytes"},
    {expr_op::unicode_length,
     on_one([](expr x) { return strings::length(x, strings::unit::utf8_chars); }),
     "strings.length: an operand is int64[]; it must be strings"},
    {expr_op::unicode_upper,
     on_one([](expr x) { return strings::upper(x, strings::unit::utf8_chars); }),
     "strings.upper: an operand is int64[]; it must be strings"},
    {expr_op::unicode_lower,
     on_one([](expr x) { return strings::lower(x, strings::unit::utf8_chars); }),
     "strings.lower: an operand is int64[]; it must be strings"},
    {expr_op::to_hash_bucket, on_one([](expr) { return strings::to_hash_bucket_fast("a", 0); }),
     "strings.to_hash_bucket_fast: the number of buckets must be 1 or more"},
    {expr_op::ngrams, on_one([](expr) { return strings::ngrams("a", 2); }),
     "strings.ngrams: a scalar has no axis to go along"},
    {expr_op::split_padded, on_one([](expr) { return strings::split_padded("a", -1); }),
     "strings.split_padded: the number of parts must be in [0, 2^30]"},
    {expr_op::split_values, on_one([](expr) { return strings::split_each("a").values(); }),
     "strings.split: the operand is string[]; a vector of strings is needed"},
    {expr_op::split_lengths, on_one([](expr x) { return strings::split_each(x).row_lengths(); }),
     "strings.split: the operand is int64[]; a vector of strings is needed"},
    {expr_op::read_file, on_one([](expr) { return io::read_file("/nowhere/x"); }),
     "io.read_file: cannot open '/nowhere/x': No such file or directory"},
    {expr_op::parse_tensor,
     on_one([](expr x) { return io::parse_tensor(io::serialize_tensor(x), dtype::float32); }),
     "io.parse_tensor: it is a tensor of int64, and out_type is float32"},
    {expr_op::number_range, on(-2, [](expr x) { return range(int64_t{0}, x); }),
     "range: 0 in steps of 1 never comes to -2"},
    {expr_op::fill_computed, on(-1, [](expr x) { return fill({x}, 3); }),
     "fill: an extent is -1; it must be 0 or more"},
    {expr_op::tile_computed,
     on(-1,
        [](expr x) {
          return tile(matrix(), {x, 1});
        }),
     "tile: multiple -1 is negative"},
    {expr_op::reshape_computed,
     on(3,
        [](expr x) {
          return reshape(matrix(), {x, -1});
        }),
     "reshape: 4 values of [2, 2] do not fill [3, ?]"},
    {expr_op::repeat_parts, on(-1, [](expr x) { return repeat(matrix(), x); }),
     "repeat: a number of repeats is -1; it must be 0 or more"},
    {expr_op::slice_along, on_one([](expr x) { return slice_along(x, 0, x, std::nullopt); }),
     "slice: a scalar has no axis to slice along"},
    {expr_op::true_places, on_one([](expr x) { return true_places(x > 0); }),
     "where: a scalar has no places"},
    {expr_op::complex_part, on_one([](expr x) { return math::imag(x); }),
     "complex_part: it is given int64[]; complex numbers are needed"},
    {expr_op::decode_csv, on_one([](expr) { return io::decode_csv("1,2", {{dtype::int64}})[0]; }),
     "io.decode_csv: a line has 2 fields; 1 are asked for"},
    {expr_op::gather_batches, on_one([](expr) { return gather(matrix(), matrix(), 1, 1); }),
     "gather: index 2 is not in [0, 2)"},
    {expr_op::parse_example, parse(io::fixed_len_feature("n", {}, dtype::int64)),
     "parse_example: feature 'n' is missing and has no default; int64[] was asked for"},
    {expr_op::parse_sequence_example, on_one([](expr) {
       const auto steps = io::fixed_len_sequence_feature("n", {}, dtype::int64);
       return io::parse_sequence_example("\x0a\xff", {}, {steps}).second["n"];
     }),
     "parse_sequence_example: 2 bytes are no tf.train.SequenceExample: end of buffer exception"},
    {expr_op::decode_image, on_one([](expr) { return image::decode_jpeg("no image"); }),
     "image.decode_image: 8 bytes that begin with [6e 6f 20 69] are no JPEG"},
    {expr_op::encode_image, on_one([](expr) { return image::encode_jpeg(pixels(), 0); }),
     "image.encode_jpeg: quality 0; it is in [1, 100]"},
  };
}

std::vector<error_case> drawn_and_pictured() {
  const auto seed = [] { return numbers({1, 2}); };
  return {
    {expr_op::random_bits, on_one([](expr x) { return random::fold_in(x, 3); }),
     "random.fold_in: the seed is int64[]; a vector of two integers is needed"},
    {expr_op::random_uniform, on_one([](expr x) { return random::stateless_uniform({2}, x); }),
     "random.stateless_uniform: the seed is int64[]; a vector of two integers is needed"},
    {expr_op::random_normal, on_one([](expr) {
       return random::stateless_normal({shape::unknown}, numbers({1, 2}));
     }),
     "random.stateless_normal: shape [?]: extents must be known, at most 1073741824 values"},
    {expr_op::random_integers,
     on(5, [=](expr x) { return random::stateless_uniform({2}, seed(), x, int64_t{5}); }),
     "random.stateless_uniform: no integer is in [5, 5)"},
    {expr_op::random_categorical,
     on_one([=](expr x) { return random::stateless_categorical(x, 2, seed()); }),
     "random.stateless_categorical: logits are int64[]; they must be float32 or float64"},
    {expr_op::row_seed, on_one([](expr) { return random::element_seed(0); }),
     "random.element_seed: there are seeds for the elements of map, filter, take_while and scan "
     "only"},
    {expr_op::resize_image, on_one([](expr) { return image::resize(pixels(), 0, 5); }),
     "image.resize: extents [0, 5]; height and width are needed, at least 1 each and at most "
     "268435456 pixels"},
    {expr_op::rgb_to_hsv, on_one([](expr) { return image::rgb_to_hsv(pixels()); }),
     "image.rgb_to_hsv: the image is uint8[2, 2, 3]; float32 is needed"},
    {expr_op::hsv_to_rgb, on_one([](expr) { return image::hsv_to_rgb(reals()); }),
     "image.hsv_to_rgb: the image has shape [2]; 3 channels are needed last"},
    {expr_op::adjust_hue, on_one([](expr) { return image::adjust_hue(reals(), 0.1f); }),
     "image.adjust_hue: the image has shape [2]; 3 channels are needed last"},
    {expr_op::adjust_saturation,
     on_one([](expr) { return image::adjust_saturation(pixels(), reals()); }),
     "image.adjust_saturation: the amount is float32[2]; a float32 scalar is needed"},
    {expr_op::place_image,
     on_one([](expr) { return image::pad_to_bounding_box(pixels(), 1, 0, 2, 2); }),
     "image.pad_to_bounding_box: an image of [2, 2, 3] does not fit [2, 2] at [1, 0]"},
  };
}

std::vector<error_case> cases() {
  auto out = errors_of_numbers();
  for (auto part : {texts_and_files, drawn_and_pictured}) {
    const auto more = part();
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

TEST(FunctionErrorTexts, SayWhatIsWrongAndWhatWouldBeRight) {
  for (const auto& x : cases()) EXPECT_EQ(x.text(), x.expected) << to_string(x.op);
}

// Functions that cannot fail: every tensor has a shape and a size, and can be serialized;
// parameters are made when a function is traced.
const std::set<expr_op> that_cannot_fail{expr_op::parameter, expr_op::shape_of, expr_op::size,
                                         expr_op::serialize_tensor};

TEST(FunctionErrorTexts, ThereIsOneOfEachFunction) {
  auto seen = that_cannot_fail;
  for (const auto& x : cases()) seen.insert(x.op);
  for (uint16_t i = 0; i < 1000; ++i) {
    const auto op = static_cast<expr_op>(i);
    EXPECT_EQ(seen.contains(op), to_string(op) != "unknown function") << to_string(op);
  }
}

} // namespace
} // namespace headrace::detail
