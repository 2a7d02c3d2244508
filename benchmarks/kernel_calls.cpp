#include "benchmarks/cases.hpp"
#include "benchmarks/sample_files.hpp"
#include "benchmarks/temporary_file.hpp"

#include <headrace/pipeline/graph/build.hpp>
#include <headrace/pipeline/iterator/iterator.hpp>

#include <functional>

namespace headrace::bench {

namespace {

constexpr size_t full_block = 1000;
constexpr uint64_t most_rows = 20'000; // of what has no end

/// An operator over some input. One call for each of `columns` of a block is what it may take, and
/// one more for each of `inner` datasets that its function makes.
struct operator_case {
  std::string name;
  std::function<dataset()> make;
  uint64_t columns = 0;
  uint64_t inner = 0;
  /// Which operator, where its elements are datasets, so that another one must read them.
  std::optional<dataset_op> below = {};
};

struct counts {
  uint64_t rows = 0;
  uint64_t blocks = 0;
  uint64_t calls = 0;
};

counts run(const dataset& what, size_t block_rows, std::optional<dataset_op> below) {
  op_counters counted;
  iterator_context context;
  context.find_function = [](const std::string&) -> named_function {
    return [](const block& rows) -> result<block> { return rows; };
  };
  context.counters = [&](const dataset_node& node) {
    return (below ? node.op == *below : &node == what.node().get()) ? &counted : nullptr;
  };
  auto it = make_iterator(what.node(), context).value();
  uint64_t rows = 0;
  while (rows < most_rows) {
    const auto b = it->next({.rows = block_rows, .bytes = SIZE_MAX});
    if (!b)
      break;
    if (!b->errors.empty())
      throw error{b->errors.front().why};
    rows += b->rows;
  }
  return {counted.rows, counted.blocks, counted.kernel_calls};
}

/// A file that many lines can be read from.
std::string lines_file() { return HEADRACE_DATA_DIR "/digits/digits.csv"; }
std::string record_file() { return HEADRACE_DATA_DIR "/digits/digits-00001-of-00004.tfrecord"; }

/// Ten numbers from `x` on.
dataset ten_of(const expr& x) { return dataset::range(x, x + 10); }

std::vector<operator_case> operators() {
  const auto in = dataset::range(10'000);
  const auto thousand = dataset::range(1000);
  const std::vector<std::string> texts{lines_file()}, records{record_file()};
  const std::vector<int64_t> numbers(10'000, 7);
  // 449 records of 113 bytes.
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
     [names, layout] { return dataset{make_fixed_length(names(record_file()), layout).value()}; },
     1},
    {"csv",
     [names, columns] {
       return dataset{make_csv(names(lines_file()), columns, {.header = true}).value()};
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
    {"list_files", [] { return dataset::list_files({HEADRACE_DATA_DIR "/digits/*"}); }, 1},
    {"map", [in] { return in.map([](expr x) { return x * x; }); }, 1},
    {"parallel_map", [in] { return in.map([](expr x) { return x * x; }, {.calls = 2}); }, 1},
    // The predicate and the choice.
    {"filter", [in] { return in.filter([](expr x) { return x < 5000; }); }, 2},
    {"flat_map", [thousand] { return thousand.flat_map(ten_of); }, 1, 1000},
    {"interleave", [thousand] { return thousand.interleave(ten_of, {.cycle_length = 4}); }, 1,
     1000},
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
    // Key and member.
    {"tar_samples", [tar] { return dataset::tar_samples(std::vector{tar->path()}, {"txt"}); }, 2},
    // The predicate and the choice.
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
    // Small blocks are made larger ones.
    {"cache", [in] { return in.cache(); }, 1},
    {"load", [saved] { return dataset::load(saved->path()); }, 1},
    {"snapshot", [in, kept] { return in.snapshot(kept->path()); }, 1},
    {"global_shuffle", [in] { return in.global_shuffle({.seed = 1}); }, 1},
    // Values and row lengths.
    {"ragged_batch", [lines] { return lines.ragged_batch(10); }, 2},
    {"padded_batch_lines", [lines] { return lines.padded_batch(10); }, 1},
    {"unbatch", [in] { return in.batch(10).unbatch(); }, 1, 1000},
    {"window",
     [in] { return in.window(10).flat_map([](const dataset& x) { return x.batch(10); }); }, 1, 0,
     dataset_op::window},
    // The rows of a group are put together when it is given.
    {"group_by_window",
     [in] {
       return in.group_by_window([](expr x) { return x % 3; },
                                 [](const expr&, const dataset& x) { return x.batch(10); }, 10);
     },
     1, 1002, dataset_op::group_by_window},
    {"bucket_by_sequence_length",
     [lines] {
       return lines.bucket_by_sequence_length(
         [](expr x) { return size(x); }, {.boundaries = {20, 30}, .batch_sizes = {10, 10, 10}});
     },
     1, 1002, dataset_op::group_by_window},
    // One after the other: each element needs the state that the one before left.
    {"scan",
     [thousand] {
       return thousand.scan(constant(int64_t{0}), [](expr sum, expr x) {
         return std::pair{sum + x, sum};
       });
     },
     1, 1000},
    // Opaque: what it does inside is not counted.
    {"named_function",
     [in] {
       return in.map(named_call{"same", in.spec()});
     },
     0},
  };
}

void add(std::vector<bench_case>& to, const operator_case& what, size_t block_rows) {
  const auto name = "kernel_calls_" + what.name + (block_rows == 1 ? "_by_one" : "");
  const auto per_thousand = [what, block_rows](auto calls_of) {
    return [what, block_rows, calls_of] {
      const auto taken = run(what.make(), block_rows, what.below);
      return taken.rows == 0 ? 0 : 1000. * calls_of(taken) / static_cast<double>(taken.rows);
    };
  };
  to.push_back({name, "calls/1000 rows", "one a block and column",
                per_thousand([](const counts& x) { return static_cast<double>(x.calls); }),
                per_thousand([columns = what.columns, inner = what.inner, below = what.below,
                              block_rows](const counts& x) {
                  const auto blocks = below ? x.blocks : (x.rows + block_rows - 1) / block_rows;
                  return static_cast<double>(columns * blocks + inner);
                }),
                1});
}

} // namespace

void add_kernel_calls(std::vector<bench_case>& to) {
  for (const auto& x : operators()) {
    add(to, x, full_block);
    add(to, x, 1);
  }
}

} // namespace headrace::bench
