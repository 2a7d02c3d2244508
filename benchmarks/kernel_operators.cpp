#include "benchmarks/kernel_cases.hpp"
#include "benchmarks/sample_files.hpp"
#include "benchmarks/temporary_file.hpp"

#include <headrace/pipeline/makers/dataset_makers.hpp>

namespace headrace::detail::bench {

namespace {

/// A file of lines, and one of TFRecords, in the examples' data.
std::string lines_file(const std::string& data) { return data + "/digits/digits.csv"; }
std::string record_file(const std::string& data) {
  return data + "/digits/digits-00001-of-00004.tfrecord";
}

/// Ten numbers from `x` on.
dataset ten_of(const expr& x) { return dataset::range(x, x + 10); }

} // namespace

std::vector<kernel_case> operator_cases(const std::string& data) {
  const auto in = dataset::range(10'000);
  const auto thousand = dataset::range(1000);
  const std::vector<std::string> texts{lines_file(data)}, records{record_file(data)};
  const std::vector<int64_t> numbers(10'000, 7);
  // The file has 449 records of 113 bytes.
  const record_layout layout{.record_bytes = 113};
  const std::vector<field_format> columns{field("p10", dtype::int64), field("label", dtype::int64)};
  const auto json = std::make_shared<temporary_file>(
    1000, [](int64_t i) { return "{\"number\": " + std::to_string(i) + "}"; });
  const auto table = std::make_shared<number_table>(1000);
  const auto tar = std::make_shared<text_archive>(1000);
  const auto saved = std::make_shared<saved_folder>(dataset::range(10'000));
  const auto kept = std::make_shared<new_folder>();
  // Vectors of 0 to 39 numbers.
  const auto lines = in.map([](expr x) {
    return slice(constant(std::vector<int64_t>(40, 7)), constant(std::vector<int64_t>{0}),
                 reshape(x % 40, {1}));
  });
  const auto names = [](const std::string& file) { return string_constant(std::vector{file}); };
  return {
    {"range", [in] { return in; }, 1},
    {"from_tensors", [] { return dataset::from_tensors(constant(int64_t{7})); }, 0},
    {"from_tensor_slices", [numbers] { return dataset::from_tensor_slices(constant(numbers)); }, 0},
    {"text_lines", [texts] { return dataset::text_lines(texts); }, 1},
    {"tfrecord", [records] { return dataset::tfrecord(records); }, 1},
    {"fixed_length",
     [names, layout, data] {
       return dataset{make_fixed_length(names(record_file(data)), layout).value()};
     },
     1},
    {"csv",
     [names, columns, data] {
       return dataset{make_csv(names(lines_file(data)), columns, {.header = true}).value()};
     },
     2},
    {"json_lines",
     [json, names] {
       return dataset{
         make_json_lines(names(json->path()), {field("number", dtype::int64)}).value()};
     },
     1},
    {"counter", [] { return dataset{make_counter().value()}; }, 1},
    {"random", [] { return dataset{make_random(7).value()}; }, 1},
    {"list_files", [data] { return dataset::list_files({data + "/digits/*"}); }, 1},
    {"map", [in] { return in.map([](expr x) { return x * x; }); }, 1},
    {"parallel_map", [in] { return in.map([](expr x) { return x * x; }, {.calls = 2}); }, 1},
    // One call computes the predicate, and one gathers the selected rows.
    {"filter", [in] { return in.filter([](expr x) { return x < 5000; }); }, 2},
    // One call for each block of the input: it computes the ends of the ranges.
    {"flat_map", [thousand] { return thousand.flat_map(ten_of); }, 1, 0, 1},
    {"interleave", [thousand] { return thousand.interleave(ten_of, {.cycle_length = 4}); }, 1, 0,
     1},
    {"parallel_interleave",
     [thousand] { return thousand.interleave(ten_of, {.cycle_length = 4, .parallel_calls = 2}); },
     1, 0, 1},
    {"batch", [in] { return in.batch(10); }, 1},
    {"shuffle", [in] { return in.shuffle(2000, {.seed = 1}); }, 1},
    {"repeat", [thousand] { return thousand.repeat(10); }, 0},
    {"take", [in] { return in.take(9000); }, 0},
    {"skip", [in] { return in.skip(1000); }, 0},
    {"prefetch", [in] { return in.prefetch(1000); }, 0},
    {"enumerate", [in] { return in.enumerate(); }, 1},
    {"zip",
     [in] {
       return dataset::zip({in, in});
     },
     0},
    {"concatenate", [in] { return in.concatenate(in); }, 0},
    {"sql",
     [table] {
       return dataset::sqlite(expr{table->path()}, expr{"SELECT n FROM numbers"},
                              {field("n", dtype::int64)});
     },
     1},
    // Two columns: the key of the sample, and its member.
    {"tar_samples", [tar] { return dataset::tar_samples(std::vector{tar->path()}, {"txt"}); }, 2},
    // One call computes the predicate, and one gathers the selected rows.
    {"take_while", [in] { return in.take_while([](expr x) { return x < 9000; }); }, 2},
    {"shard", [in] { return in.shard(3, 1); }, 1},
    {"unique", [in] { return in.unique(); }, 1},
    {"ignore_errors", [in] { return in.ignore_errors(); }, 0},
    {"assert_cardinality", [in] { return in.skip(0).assert_cardinality(10'000); }, 0},
    {"padded_batch", [in] { return in.padded_batch(10); }, 1},
    {"sample_from_datasets",
     [in] {
       return dataset::sample_from_datasets({in, in}, {.seed = 1});
     },
     1},
    {"choose_from_datasets",
     [in, thousand] {
       return dataset::choose_from_datasets({in, in}, thousand.map([](expr x) { return x % 2; }));
     },
     1},
    // One call for the column joins small blocks into a larger one.
    {"cache", [in] { return in.cache(); }, 1},
    {"load", [saved] { return dataset::load(saved->path()); }, 1},
    {"saved_shards", [saved] { return dataset{make_saved_shards(saved->path()).value()}; }, 1},
    {"write_tfrecord",
     [texts, saved] {
       return dataset::text_lines(texts).written_to_tfrecord(expr{saved->path() + "/records"});
     },
     0},
    {"stats", [in] { return in.latency_stats("time"); }, 0},
    {"snapshot", [in, kept] { return in.snapshot(kept->path()); }, 1},
    {"global_shuffle", [in] { return in.global_shuffle({.seed = 1}); }, 1},
    // Two columns: the values, and the lengths of the rows.
    {"ragged_batch", [lines] { return lines.ragged_batch(10); }, 2},
    {"padded_batch_lines", [lines] { return lines.padded_batch(10); }, 1},
    {"unbatch", [in] { return in.batch(10).unbatch(); }, 1},
    {"window",
     [in] { return in.window(10).flat_map([](const dataset& x) { return x.batch(10); }); }, 1, 0, 0,
     dataset_op::window},
    // There are three open groups. For each block that the operator reads or returns, a call for
    // each group gathers the group's rows; for a returned block there is a fourth call, for its
    // column. One more call for each of the up to 1002 returned groups joins all its rows.
    {"group_by_window",
     [in] {
       return in.group_by_window([](expr x) { return x % 3; },
                                 [](const expr&, const dataset& x) { return x.batch(10); }, 10);
     },
     4, 1002, 3, dataset_op::group_by_window},
    {"bucket_by_sequence_length",
     [lines] {
       return lines.bucket_by_sequence_length(
         [](expr x) { return size(x); }, {.boundaries = {20, 30}, .batch_sizes = {10, 10, 10}});
     },
     4, 1002, 3, dataset_op::group_by_window},
    // One call for each element: the elements are computed one after the other, because each needs
    // the state after the previous one.
    {"scan",
     [thousand] {
       return thousand.scan(constant(int64_t{0}), [](expr sum, expr x) {
         return std::pair{sum + x, sum};
       });
     },
     1, 1000},
    {"sleep", [] { return dataset::range(100).sleep(std::chrono::microseconds{1}); }, 0},
    {"single_element", [in] { return dataset{make_single_element(in.skip(9999).node()).value()}; },
     0},
    {"last_element",
     [in] { return dataset{make_last_element(in.node(), {expr{int64_t{0}}.node()}).value()}; }, 0},
    // The operator itself needs no call, and kernel calls inside the named function are not
    // counted.
    {"named_function",
     [in] {
       return in.map(named_call{"same", in.spec()});
     },
     0},
    // One call for each block makes the row numbers, which are the argument of the function.
    {"generator", [in] { return dataset::from_generator("same", in.spec(), 1000); }, 1},
  };
}

} // namespace headrace::detail::bench
