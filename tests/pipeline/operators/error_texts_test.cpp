#include "headrace/pipeline/functions/math.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gtest/gtest.h>

#include <set>

// The error messages of each operator: when it is made wrongly, or when its elements fail.

namespace headrace::detail {
namespace {

using test::range;
using test::read_all;
using test::traced;

struct error_case {
  dataset_op op;
  std::function<std::string()> text;
  std::string expected;
};

std::string made(const result<dataset_ptr>& x) { return to_string(x.status()); }
/// The error of making or opening the dataset, or the error of its first error row.
std::string outcome_of(const result<dataset_ptr>& x) {
  if (!x)
    return made(x);
  const iterator_context context;
  const auto it = make_iterator(*x, context);
  if (!it)
    return to_string(it.status());
  for (const auto& row : read_all(**it, test::always(1000), 10))
    if (row[0] == '!')
      return row.substr(1);
  return "no row failed";
}
expr_ptr text(const std::string& x) { return expr{x}.node(); }
expr_ptr file(const std::string& x) { return string_constant(std::vector{x}); }

std::vector<error_case> cases() {
  const auto in = range(0, 3);
  const element_spec number{tensor_spec{dtype::int64, {}}};
  // Vectors of no, one and two numbers.
  const auto uneven =
    make_map(in, traced(in,
                        [](expr x) {
                          return slice(constant(std::vector<int64_t>{1, 2}),
                                       constant(std::vector<int64_t>{0}), reshape(x, {1}));
                        }))
      .value();
  const auto one = traced(in, [](expr x) { return make_from_tensors({x.node()}).value(); });
  const auto windows = make_window(in, 2, 2).value();
  const auto word = string_constant(std::vector<std::string>{"a"});
  return {
    {dataset_op::range, [=] { return made(make_range(0, 5, 0)); },
     "invalid_argument: range: step is 0; it must be another number"},
    {dataset_op::from_tensors, [=] { return made(make_from_tensors({})); },
     "invalid_argument: from_tensors: there are no tensors; give at least one"},
    {dataset_op::from_tensor_slices,
     [=] { return made(make_from_tensor_slices({scalar_constant(1)})); },
     "invalid_argument: from_tensor_slices: tensor 0 is a scalar int64[]; it needs an axis to "
     "slice along"},
    {dataset_op::text_lines, [=] { return outcome_of(make_text_lines(file("/nowhere/a.txt"))); },
     "not_found: text_lines: cannot open '/nowhere/a.txt': No such file or directory"},
    {dataset_op::tfrecord, [=] { return outcome_of(make_tfrecord(file("/nowhere/a"))); },
     "not_found: tfrecord: cannot open '/nowhere/a': No such file or directory"},
    {dataset_op::list_files, [=] { return outcome_of(make_list_files(file("/nowhere/*"))); },
     "invalid_argument: list_files: no file matches '/nowhere/*'"},
    {dataset_op::fixed_length,
     [=] { return made(make_fixed_length(file("a"), {.record_bytes = 0})); },
     "invalid_argument: fixed_length: record_bytes is 0; it must be at least 1"},
    {dataset_op::csv, [=] { return made(make_csv(file("a"), {})); },
     "invalid_argument: csv: there are no columns; give at least one"},
    {dataset_op::json_lines, [=] { return made(make_json_lines(file("a"), {})); },
     "invalid_argument: json_lines: there are no fields; give at least one"},
    {dataset_op::sql,
     [=] { return made(make_sql("oracle", text("a"), text("b"), {field("n", dtype::int64)})); },
     "invalid_argument: sql: driver is 'oracle'; it must be 'sqlite'"},
    {dataset_op::tar_samples, [=] { return made(make_tar_samples(file("a"), {})); },
     "invalid_argument: tar_samples: there are no extensions; give at least one"},
    {dataset_op::generator, [=] { return outcome_of(make_generator({"nobody"}, number, 3)); },
     "not_found: generator: no function is registered as 'nobody' in this process"},
    {dataset_op::elements_of, [=] { return made(make_elements_of({scalar_constant(1)})); },
     "invalid_argument: elements_of: an argument is int64[]; it must be a dataset, as the elements "
     "of window are"},
    {dataset_op::load, [=] { return outcome_of(make_load("/nowhere/saved", number, 1, 5)); },
     "not_found: load: '/nowhere/saved' holds no saved dataset: there is no "
     "'/nowhere/saved/dataset.headrace' (it is written last, when all elements are)"},
    {dataset_op::global_shuffle,
     [=] { return made(make_global_shuffle(make_take(in, 3).value())); },
     "invalid_argument: global_shuffle: the rows of take cannot be read in any order; put it right "
     "after a range, from_tensors, from_tensor_slices, or uncompressed tfrecord or fixed_length"},
    {dataset_op::map,
     [=] { return outcome_of(make_map(in, traced(in, [](expr x) { return 6 / x; }))); },
     "invalid_argument: map: divide: integer division by zero"},
    {dataset_op::filter,
     [=] { return made(make_filter(in, traced(in, [](expr x) { return x + 1; }))); },
     "invalid_argument: filter: the function gives int64[]; it must give one bool scalar"},
    {dataset_op::flat_map,
     [=] { return made(make_flat_map(in, traced(in, [](expr x) { return x + 1; }))); },
     "invalid_argument: flat_map: the function gives int64[]; it must give a dataset"},
    {dataset_op::interleave, [=] { return made(make_interleave(in, one, 0)); },
     "invalid_argument: interleave: cycle_length is 0; it must be at least 1"},
    {dataset_op::batch, [=] { return outcome_of(make_batch(uneven, 2)); },
     "invalid_argument: batch: component 0 has rows of shapes [0] and [1] in one batch; all rows "
     "of a batch must have one shape"},
    {dataset_op::shuffle, [=] { return made(make_shuffle(in, 0)); },
     "invalid_argument: shuffle: buffer_size is 0; it must be at least 1"},
    {dataset_op::repeat, [=] { return made(make_repeat(in, word)); },
     "invalid_argument: repeat: count is string[1]; it must be an int64 scalar"},
    {dataset_op::take, [=] { return made(make_take(in, word)); },
     "invalid_argument: take: count is string[1]; it must be an int64 scalar"},
    {dataset_op::skip, [=] { return made(make_skip(in, word)); },
     "invalid_argument: skip: count is string[1]; it must be an int64 scalar"},
    {dataset_op::prefetch, [=] { return made(make_prefetch(in, -2)); },
     "invalid_argument: prefetch: buffer_size is -2; it must be 1 or more, 0 for none, or -1 to "
     "have it chosen"},
    {dataset_op::zip, [=] { return made(make_zip({})); },
     "invalid_argument: zip: there are no inputs; give at least one"},
    {dataset_op::concatenate,
     [=] { return made(make_concatenate(in, make_enumerate(in).value())); },
     "invalid_argument: concatenate: the second dataset gives (int64[], int64[]); it must give "
     "int64[] as the first does"},
    {dataset_op::distribute,
     [=] { return made(make_distribute(in, {.max_outstanding_requests = -1})); },
     "invalid_argument: distribute: max_outstanding_requests is -1; it must be 1 or more, or 0 for "
     "a bound in bytes alone"},
    {dataset_op::take_while,
     [=] { return made(make_take_while(in, traced(in, [](expr x) { return x + 1; }))); },
     "invalid_argument: take_while: the function gives int64[]; it must give one bool scalar"},
    {dataset_op::shard, [=] { return made(make_shard(in, 2, 2)); },
     "invalid_argument: shard: index is 2; it must be 0 or more and less than num_shards, 2"},
    {dataset_op::unique, [=] { return made(make_unique_elements(windows)); },
     "invalid_argument: unique: the input gives dataset(int64[]); it must give tensors: take the "
     "datasets apart before, with flat_map or interleave"},
    {dataset_op::assert_cardinality, [=] { return outcome_of(make_assert_cardinality(in, 5)); },
     "failed_precondition: assert_cardinality: expected_cardinality is 5; the dataset's is 3"},
    {dataset_op::scan,
     [=] {
       return made(make_scan(in, {scalar_constant(0)}, traced(in, [](expr x) { return x; })));
     },
     "invalid_argument: scan: the function takes int64[] and gives int64[]; it must take (state, "
     "element) and give (new state, output)"},
    {dataset_op::padded_batch, [=] { return outcome_of(make_padded_batch(uneven, 1, {shape{1}})); },
     "data_loss: padded_batch: component 0 has a row of shape [2], which is larger than the "
     "padded shape [1]"},
    {dataset_op::window, [=] { return made(make_window(in, 0, 1)); },
     "invalid_argument: window: size is 0; it must be at least 1"},
    {dataset_op::sample_from,
     [=] {
       return made(make_sample_from({in, in}, {0.5, -1}));
     },
     "invalid_argument: sample_from_datasets: a weight is -1; weights must be 0 or more"},
    {dataset_op::choose_from,
     [=] {
       return outcome_of(make_choose_from(range(7, 8), {in, in}));
     },
     "invalid_argument: choose_from_datasets: the choice is 7; it must be 0 or more and less than "
     "2, the number of datasets"},
    {dataset_op::options, [=] { return made(make_options(in, {.memory = 0})); },
     "invalid_argument: options: memory is 0; it must be at least 1"},
    {dataset_op::sleep, [=] { return made(make_sleep(in, -1)); },
     "invalid_argument: sleep: sleep_microseconds is -1; it must be between 0 and 86400000000, a "
     "day"},
    {dataset_op::group_by_window,
     [=] {
       return made(
         make_group_by_window(in, traced(in, [](expr x) { return cast<float>(x); }), one, 3));
     },
     "invalid_argument: group_by_window: key_func gives float32[]; it must give one integer "
     "scalar"},
    {dataset_op::ragged_batch, [=] { return made(make_ragged_batch(in, 0)); },
     "invalid_argument: ragged_batch: batch_size is 0; it must be at least 1"},
    {dataset_op::single_element, [=] { return outcome_of(make_single_element(in)); },
     "invalid_argument: get_single_element: the dataset has more than one element"},
    {dataset_op::last_element, [=] { return made(make_last_element(in, {})); },
     "invalid_argument: reduce: the initial state does not fit the states, int64[]"},
    {dataset_op::cache, [=] { return outcome_of(make_cache(in, {}, 8)); },
     "resource_exhausted: cache: the elements take more than the 8 bytes that most_bytes allows; "
     "cache them in a folder, or allow more"},
    {dataset_op::snapshot, [=] { return made(make_snapshot(in, "")); },
     "invalid_argument: snapshot: path is empty; it must name a folder"},
    {dataset_op::saved_shards, [=] { return outcome_of(make_saved_shards("/nowhere/saved")); },
     "not_found: saved_shards: '/nowhere/saved' holds no saved dataset: there is no "
     "'/nowhere/saved/dataset.headrace' (it is written last, when all elements are)"},
    {dataset_op::stats, [=] { return made(make_stats(in, "", false)); },
     "invalid_argument: stats: tag is empty; it must name what is measured"},
    {dataset_op::write_tfrecord, [=] { return made(make_write_tfrecord(in, text("a"))); },
     "invalid_argument: write_tfrecord: the elements are int64[]; they must be string scalars"},
  };
}

TEST(ErrorTexts, SayWhatIsWrongAndWhatWouldBeRight) {
  for (const auto& x : cases()) EXPECT_EQ(x.text(), x.expected) << to_string(x.op);
}

// These operators have no error of their own, whatever their parameters are.
const std::set<dataset_op> that_cannot_fail{dataset_op::counter, dataset_op::random,
                                            dataset_op::enumerate, dataset_op::ignore_errors};

TEST(ErrorTexts, OfOtherOperatorsPassThoseThatHaveNone) {
  const std::string all_is_well = "no row failed";
  constexpr auto most = INT64_MAX;
  for (const auto& [start, step] :
       {std::pair{most, most}, {-most, -most}, {int64_t{5}, int64_t{0}}})
    EXPECT_EQ(outcome_of(make_take(make_counter(start, step).value(), 5)), all_is_well);
  for (const auto seed : {uint64_t{0}, UINT64_MAX})
    EXPECT_EQ(outcome_of(make_take(make_random(seed).value(), 5)), all_is_well);
  const auto in = range(0, 3);
  const auto failing = make_map(in, traced(in, [](expr x) { return 6 / x; })).value();
  EXPECT_EQ(outcome_of(make_enumerate(failing, most)),
            "invalid_argument: map: divide: integer division by zero");
  EXPECT_EQ(outcome_of(make_ignore_errors(failing)), all_is_well);
  // The error of opening a distribute is not the error of an element, so ignore_errors does not
  // drop it.
  EXPECT_EQ(outcome_of(make_ignore_errors(make_distribute(in, {.address = "a:1"}).value())),
            outcome_of(make_distribute(in, {.address = "a:1"})));
}

TEST(ErrorTexts, AFunctionThatFailsNamesTheOperatorThatCalledIt) {
  const auto in = range(0, 3);
  const auto after = std::string{"divide: integer division by zero"};
  const auto fails = traced(in, [](expr x) { return 6 / x; });
  const auto decides = traced(in, [](expr x) { return 6 / x > 1; });
  const auto sums = std::make_shared<const function>(
    trace(element_spec::tuple({in->spec, in->spec}), [](expr state, expr x) {
      return std::pair{state + 6 / x, x};
    }));
  const auto inner = traced(in, [](expr x) {
    return make_range(constant(int64_t{0}).node(), (6 / x).node(), constant(int64_t{1}).node())
      .value();
  });
  const std::vector<std::pair<const char*, result<dataset_ptr>>> all{
    {"map", make_map(in, fails)},
    {"map", make_map(in, fails, 2)},
    {"filter", make_filter(in, decides)},
    {"filter", make_filter(in, decides, 2)},
    {"take_while", make_take_while(in, decides)},
    {"scan", make_scan(in, {scalar_constant(0)}, sums)},
    {"flat_map", make_flat_map(in, inner)},
    {"interleave", make_interleave(in, inner, 2)},
    {"filter", make_filter(make_filter(in, decides).value(), decides)}};
  for (const auto& [name, made] : all)
    EXPECT_EQ(outcome_of(made), "invalid_argument: " + std::string{name} + ": " + after);
}

TEST(ErrorTexts, ThereIsOneOfEachOperator) {
  auto seen = that_cannot_fail;
  for (const auto& x : cases()) seen.insert(x.op);
  for (uint16_t i = 0; i < 1000; ++i) {
    const auto op = static_cast<dataset_op>(i);
    EXPECT_EQ(seen.contains(op), to_string(op) != "unknown operator") << to_string(op);
  }
}

} // namespace
} // namespace headrace::detail
