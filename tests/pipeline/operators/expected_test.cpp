#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/functions/lookup.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "tests/pipeline/support/expected_rows.hpp"

/// The results of operators, compared with those of TensorFlow for the same data:
/// tests/data/expected/compute_operators.py.
namespace headrace::detail {
namespace {

using test::range;
using test::traced;

std::string data(const std::string& name) { return test::expected_path(name); }

const test::expected_rows& expected() {
  static const test::expected_rows all{"operators.txt"};
  return all;
}
void expect_same(const std::string& name, const dataset_ptr& graph) {
  expected().compare(name, graph);
}

template <class F>
dataset_ptr map(const dataset_ptr& in, F f) {
  return make_map(in, traced(in, f)).value();
}
template <class F>
dataset_ptr flat_map(const dataset_ptr& in, F f) {
  return make_flat_map(in, traced(in, f)).value();
}
dataset_ptr batch(const dataset_ptr& in, int64_t n) { return make_batch(in, n).value(); }
dataset_ptr window(const dataset_ptr& in, int64_t size, int64_t shift, int64_t stride = 1,
                   bool drop = false) {
  return make_window(in, size, shift, stride, drop).value();
}
template <class F>
function_ptr of_groups(const dataset_ptr& in, F f) {
  return std::make_shared<const function>(trace(grouped_spec(in->spec), f));
}
template <class F>
function_ptr of_two(F f) {
  const tensor_spec x{dtype::int64, {}};
  return std::make_shared<const function>(trace(element_spec::tuple({x, x}), f));
}

dataset_ptr numbers() { return range(0, 40); }

dataset_ptr sentences() {
  const std::vector<std::string> file{data("sentences.tfrecord")};
  auto records = make_tfrecord(string_constant(file)).value();
  auto tokens = map(records, [](expr x) {
    return io::parse_example(x, {io::var_len_feature("tokens", dtype::int64)})["tokens"];
  });
  return make_repeat(tokens, 3).value();
}

std::vector<std::optional<column>> minus_one() {
  const int64_t x = -1;
  return {column::of_scalars(std::span<const int64_t>{&x, 1})};
}

TEST(OperatorsAgainstTensorFlow, Windows) {
  const auto whole = [](dataset_ptr w) { return batch(w, 100); };
  expect_same("window", flat_map(window(numbers(), 5, 3, 2), whole));
  expect_same("window whole", flat_map(window(numbers(), 4, 7, 1, true), whole));
  auto pairs = make_zip({numbers(), make_skip(numbers(), 3).value()}).value();
  expect_same("window pairs", flat_map(window(pairs, 6, 5), [](dataset_ptr a, dataset_ptr b) {
                return make_zip({batch(a, 4), batch(b, 4)}).value();
              }));
  auto sevens = window(numbers(), 7, 7);
  expect_same(
    "window interleave",
    make_interleave(sevens, traced(sevens, [](dataset_ptr w) { return w; }), 3, 2).value());
  expect_same("window sums", flat_map(window(numbers(), 6, 4), [](dataset_ptr w) {
                return make_reduce(w, {scalar_constant(0)},
                                   of_two([](expr sum, expr x) { return sum + x; }))
                  .value();
              }));
}

TEST(OperatorsAgainstTensorFlow, Groups) {
  auto in = numbers();
  expect_same("group", make_group_by_window(
                         in, traced(in, [](expr x) { return x * x % 7; }),
                         of_groups(in, [](expr, dataset_ptr xs) { return batch(xs, 3); }), 5)
                         .value());
  auto sizes = std::make_shared<const function>(
    trace(tensor_spec{dtype::int64, {}}, [](expr key) { return key + 2; }));
  auto reduce = of_groups(in, [](expr key, dataset_ptr xs) {
    return make_take(map(xs, [key](expr x) { return std::pair{key, x}; }), 3).value();
  });
  expect_same(
    "group sizes",
    make_group_by_window(in, traced(in, [](expr x) { return x % 4; }), reduce, sizes).value());
}

TEST(OperatorsAgainstTensorFlow, Buckets) {
  auto in = sentences();
  auto length = traced(in, [](expr x) { return size(x); });
  expect_same("buckets", make_bucket_by_sequence_length(
                           in, length, {.boundaries = {12, 20, 30}, .batch_sizes = {2, 3, 2, 1}})
                           .value());
  bucket_format format{.boundaries = {15, 200}, .batch_sizes = {4, 3, 1}};
  format.padding_values = minus_one();
  format.pad_to_boundary = format.drop_remainder = true;
  expect_same("buckets filled",
              map(make_bucket_by_sequence_length(in, length, format).value(), [](expr x) {
                return std::pair{shape_of(x), reduce_sum(x)};
              }));
}

TEST(OperatorsAgainstTensorFlow, PaddedAndRaggedBatches) {
  auto in = sentences();
  expect_same("padded", make_padded_batch(in, 4, {}, minus_one()).value());
  expect_same("padded shape",
              map(make_padded_batch(in, 5, {shape{200}}, {}, true).value(), [](expr x) {
                return std::pair{shape_of(x), reduce_sum(x, {1})};
              }));
  expect_same("ragged", make_ragged_batch(in, 4).value());
  auto threes = map(in, [](expr x) {
    const auto n = size(x) / 3 * 3;
    return reshape(slice(x, constant(std::vector<int64_t>{0}), reshape(n, {1})), {-1, 3});
  });
  expect_same("ragged threes", make_ragged_batch(threes, 4).value());
}

TEST(OperatorsAgainstTensorFlow, ScanAndUnique) {
  expect_same("scan", make_scan(numbers(), {scalar_constant(1)}, of_two([](expr s, expr x) {
                                  return std::pair{(s * 3 + x) % 101, s - x};
                                }))
                        .value());
  auto squares = map(numbers(), [](expr x) { return x * x % 23; });
  expect_same("unique", make_unique_elements(squares).value());
  expect_same("unique vectors", make_unique_elements(sentences()).value());
}

TEST(OperatorsAgainstTensorFlow, InterleaveAndChoices) {
  const auto in = numbers();
  const auto some = traced(in, [](expr x) {
    return make_range(x.node(), (x + x % 4).node(), scalar_constant(1)).value();
  });
  expect_same("interleave", make_interleave(in, some, 3, 2).value());
  const auto tens = traced(in, [](expr x) {
    return make_range((x * 10).node(), (x * 10 + 5 - x % 6).node(), scalar_constant(1)).value();
  });
  for (const int64_t parallel : {0, 3})
    expect_same("interleave by one", make_interleave(in, tens, 7, 1, parallel).value());
  const auto first = make_take(in, 5).value();
  const auto second = make_take(make_skip(in, 20).value(), 9).value();
  const auto choices = map(in, [](expr x) { return x * x % 5 % 2; });
  for (const bool stop : {true, false}) {
    const std::string how = stop ? "True" : "False";
    expect_same("choose " + how, make_choose_from(choices, {first, second}, stop).value());
    expect_same(
      "sample of one " + how,
      make_sample_from({make_take(in, 6).value(), make_skip(in, 30).value()}, {0, 1}, 1, stop)
        .value());
  }
}

TEST(OperatorsAgainstTensorFlow, FunctionsOfRows) {
  expect_same("one hot", map(numbers(), [](expr x) {
                return one_hot(x - 3, 4, expr{int64_t{5}}, expr{int64_t{-1}});
              }));
  expect_same("sorted", map(sentences(), [](expr x) {
                return std::pair{sort(x), sort(x, -1, true)};
              }));
  expect_same("gathered", map(sentences(), [](expr x) {
                const auto places = reshape(constant(std::vector<int64_t>{2, 0, 1, 1}), {2, 2});
                return gather(concat({x, constant(std::vector<int64_t>{1, 2, 3})}, 0), places);
              }));
  const std::vector<int64_t> keys{3, 5, 8, 13, 21}, squares{9, 25, 64, 169, 441};
  const lookup::table table{constant(keys), constant(squares), expr{int64_t{-1}}};
  expect_same("looked up", map(numbers(), [&](expr x) { return table.lookup(x); }));
}

TEST(OperatorsAgainstTensorFlow, Tables) {
  const std::vector<std::string> file{data("table.csv")};
  const auto all =
    make_csv(string_constant(file),
             {field("n", dtype::int64), field("m", int64_t{7}), field("name", "none")},
             {.header = true})
      .value();
  expect_same("csv", map(all, [](expr_structure row) {
                return std::tuple{row["n"], row["m"], strings::length(row["name"])};
              }));
  const auto some =
    make_csv(string_constant(file), {field("n", dtype::int64), field("name", "")}, {.header = true})
      .value();
  expect_same("csv columns", map(some, [](expr_structure row) {
                return std::pair{strings::length(row["name"]), row["n"]};
              }));
}

TEST(OperatorsAgainstTensorFlow, BatchesAndParts) {
  const auto in = numbers();
  const auto sevens = batch(in, 7);
  expect_same("batches", make_batch(in, 7, true).value());
  expect_same("unbatched", make_unbatch(map(sevens,
                                            [](expr x) {
                                              return std::pair{x, reverse(x, {0})};
                                            }))
                             .value());
  expect_same("shard", make_shard(in, 7, 3).value());
  const auto rest = make_skip(in, 3).value();
  const auto filtered = make_filter(rest, traced(rest, [](expr x) { return x % 3 != 0; })).value();
  const auto small =
    make_take_while(filtered, traced(filtered, [](expr x) { return x * x < 700; })).value();
  expect_same("some", make_repeat(make_take(small, 13).value(), 2).value());
  const auto ends = make_concatenate(make_take(in, 3).value(), make_skip(in, 37).value()).value();
  expect_same("side by side",
              make_zip({ends, make_enumerate(make_skip(in, 34).value(), 5).value()}).value());
}

TEST(OperatorsAgainstTensorFlow, WholeDatasets) {
  const auto in = numbers();
  expect_same("sum", make_reduce(in, {scalar_constant(2)},
                                 of_two([](expr s, expr x) { return s * 3 % 1000 + x; }))
                       .value());
  expect_same("errors ignored",
              make_ignore_errors(map(in, [](expr x) { return floor_div(60, x % 4); })).value());
  expect_same("only one", make_single_element(make_skip(in, 39).value()).value());
}

TEST(OperatorsAgainstTensorFlow, PlainFiles) {
  const std::vector<std::string> file{data("table.csv")};
  expect_same("records", map(make_fixed_length(string_constant(file), {9, 9, 7}).value(),
                             [](expr x) { return io::decode_raw<uint8_t>(x); }));
  expect_same("text", make_text_lines(string_constant(file)).value());
}

TEST(OperatorsAgainstTensorFlow, Cardinalities) {
  const auto in = numbers();
  const auto endless = make_repeat(in).value();
  const std::vector<dataset_ptr> all{
    batch(in, 7),
    make_batch(in, 7, true).value(),
    endless,
    make_skip(make_repeat(in, 3).value(), 11).value(),
    make_filter(in, traced(in, [](expr x) { return x > 2; })).value(),
    window(in, 5, 3, 2),
    window(in, 5, 3, 2, true),
    make_shard(in, 7, 5).value(),
    make_zip({endless, make_take(in, 4).value()}).value(),
    make_concatenate(in, in).value(),
    make_interleave(in, traced(in, [](expr) { return numbers(); }), 2, 1).value(),
    make_prefetch(make_shuffle(in, 3).value(), 2).value()};
  std::vector<std::string> told;
  for (const auto& x : all) told.push_back(std::to_string(x->cardinality));
  EXPECT_EQ(told, expected().at("cardinalities"));
}

TEST(OperatorsAgainstTensorFlow, SharesAfterResampling) {
  auto in = range(0, 40000);
  auto class_of = traced(in, [](expr x) {
    return where(x % 10 < 5, constant(int64_t{0}),
                 where(x % 10 < 8, constant(int64_t{1}), constant(int64_t{2})));
  });
  auto pairs = make_rejection_resample(in, class_of, {0.2, 0.2, 0.6}, {0.5, 0.3, 0.2}, 3).value();
  std::vector<double> shares(3);
  const auto kinds = test::read_numbers(map(pairs, [](expr kind, expr) { return kind; }));
  for (auto kind : kinds)
    shares[static_cast<size_t>(kind)] += 1000.0 / static_cast<double>(kinds.size());
  const auto& theirs = expected().at("resampled, in thousandths");
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(shares[i], std::stod(theirs[i]), 25) << "class " << i;
}

} // namespace
} // namespace headrace::detail
