#include "headrace/pipeline/functions/lookup.hpp"
#include "tests/pipeline/functions/rows_expected.hpp"

namespace headrace::detail {
namespace {

using namespace test;
using words = std::vector<std::string>;

// -- files ------------------------------------------------------------------------

dataset_ptr examples() { return records(test::expected_path("words.tfrecord")); }
dataset_ptr chapters() { return records(test::expected_path("chapters.tfrecord")); }

template <class... Features>
auto parsing(Features... features) {
  return [=](expr x) { return io::parse_example(x, {features...}); };
}

TEST(RowsAgainstTensorFlow, VariableFeatures) {
  const auto tokens = io::var_len_feature("tokens", dtype::int64);
  const auto last = [](auto... otherwise) {
    return io::fixed_len_feature("last", {}, dtype::string, otherwise...);
  };
  expect_same("variable", examples(),
              parsing(io::var_len_feature("last", dtype::string),
                      io::var_len_feature("none", dtype::float32), tokens));
  const int64_t filler = -1;
  expect_same("variable padded",
              make_padded_batch(map(examples(), parsing(tokens)), 4, {},
                                {column::of_scalars(std::span<const int64_t>{&filler, 1})})
                .value());
  expect_same("default", examples(), parsing(last(expr{"nothing"})));
  expect_same("missing", examples(), parsing(last()));
  expect_same("steps", examples(),
              parsing(io::fixed_len_sequence_feature("pairs", {2}, dtype::int64)));
}

TEST(RowsAgainstTensorFlow, SparseAndRaggedFeatures) {
  expect_same("sparse", examples(), [](expr x) {
    const auto share = io::sparse_feature("share", "place", dtype::float32, 40, -1.0f);
    return thousandths(io::parse_example(x, {share})["share"]);
  });
  const auto shares = map(examples(), [](expr x) {
    const auto share = io::sparse_feature("share", "place", dtype::float32, 40);
    return thousandths(io::parse_example(x, {share})["share"]);
  });
  expect_same("sparse batch", make_batch(shares, 4).value(),
              [](expr x) { return reduce_sum(x, {0}); });
  expect_same("ragged feature", examples(),
              parsing(io::ragged_feature("pieces", "lengths", dtype::string, "-")));
}

TEST(RowsAgainstTensorFlow, SequenceExamples) {
  const auto parsed = map(chapters(), [](expr x) {
    const auto [about, lists] = io::parse_sequence_example(
      x,
      {io::fixed_len_feature("sentences", {}, dtype::int64),
       io::var_len_feature("first", dtype::int64)},
      {io::var_len_feature("words", dtype::string), io::var_len_feature("tokens", dtype::int64),
       io::fixed_len_sequence_feature("ends", {2}, dtype::int64)});
    return std::tuple{about["sentences"], about["first"], lists["words"], lists["tokens"],
                      lists["ends"]};
  });
  expect_same("sequence", parsed);
  const int64_t filler = -1;
  const std::string_view dash = "-";
  const auto two = map(parsed, [](expr, expr, expr w, expr, expr ends) {
    return std::pair{w, ends};
  });
  expect_same("sequence padded",
              make_padded_batch(two, 4, {},
                                {column::of_strings(std::span{&dash, 1}),
                                 column::of_scalars(std::span<const int64_t>{&filler, 1})})
                .value());
  const auto ends = map(parsed, [](expr, expr, expr, expr, expr x) { return x; });
  expect_same("sequence ragged", make_ragged_batch(ends, 4).value());
  expect_same("sequence short", chapters(), [](expr x) {
    const auto steps = io::fixed_len_sequence_feature("tokens", {9}, dtype::int64);
    return io::parse_sequence_example(x, {}, {steps}).second["tokens"];
  });
}

// -- strings ------------------------------------------------------------------------

dataset_ptr file_lines() {
  const words file{test::expected_path("expected/lines.txt")};
  const auto starts = map(make_text_lines(string_constant(file)).value(), [](expr s) {
    return strings::substr(s, expr{int64_t{0}}, expr{int64_t{70}});
  });
  return make_filter(
           starts,
           test::traced(starts, [](expr s) { return strings::regex_full_match(s, "[ -~]*"); }))
    .value();
}

TEST(RowsAgainstTensorFlow, Splits) {
  expect_same("split", file_lines(), [](expr s) {
    return std::pair{strings::split(s), strings::split(s, "e")};
  });
  expect_same("split to padded", make_batch(file_lines(), 3).value(), [](expr s) {
    return std::pair{strings::split_padded(s, 4, "", "-"), strings::split_padded(s, 2, ",")};
  });
}

TEST(RowsAgainstTensorFlow, Texts) {
  expect_same("ASCII", file_lines(), [](expr s) {
    return std::tuple{strings::upper(s), strings::lower(s), strings::length(s),
                      strings::strip(" \t" + s + " \n"), strings::join({s, s}, "|")};
  });
  expect_same("substring", file_lines(), [](expr s) {
    return strings::substr(s, numbers({-20, 12, 0}), numbers({4, 100, 0}));
  });
  expect_same("first replaced", file_lines(), [](expr s) {
    return strings::regex_replace(s, "[aeiou]+([a-z])", "<\\1\\0>", false);
  });
  expect_same("ngrams", file_lines(), [](expr s) {
    const auto parts = strings::split(s);
    const auto two = parts.slice({at::until(2)});
    return std::pair{
      strings::ngrams(parts, 3, {.separator = "-", .pad_values = {{"(", ")"}}, .padding_width = 1}),
      strings::ngrams(two, 3,
                      {.separator = "-", .pad_values = {}, .preserve_short_sequences = true})};
  });
  expect_same("buckets of words", file_lines(),
              [](expr s) { return strings::to_hash_bucket_fast(strings::split(s), 1000); });
}

TEST(RowsAgainstTensorFlow, NumbersInTexts) {
  const words all{
    "12", " -7 ", "+3", "1e3", "", "9223372036854775807", "1.5", "9223372036854775808"};
  const auto texts = make_from_tensor_slices({constant(all).node()}).value();
  expect_same("integers from text", texts, [](expr s) { return strings::to_number<int64_t>(s); });
  expect_same("floats from text", texts,
              [](expr s) { return strings::as_string(strings::to_number<double>(s)); });
  expect_same("texts of numbers", test::range(-3, 4), [](expr x) {
    return std::tuple{strings::as_string(x), strings::as_string(x * int64_t{1000000000000000}),
                      strings::as_string(x > 0), strings::as_string(cast<float>(x) / 7.0f)};
  });
}

TEST(RowsAgainstTensorFlow, Vocabularies) {
  auto most = lookup::read_vocabulary(test::expected_path("vocabulary.txt"));
  const auto table = lookup::vocabulary_table(most, 5);
  const auto known = lookup::index_to_string(most);
  const auto ids = [&](const expr& s) { return table.lookup(strings::split(strings::lower(s))); };
  expect_same("vocabulary", file_lines(), ids);
  expect_same("words again", file_lines(), [&](expr s) { return known.lookup(ids(s)); });
}

} // namespace
} // namespace headrace::detail
