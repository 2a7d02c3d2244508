#include "tests/pipeline/functions/expression_maker.hpp"
#include "tests/pipeline/kernels/targets.hpp"

#include <algorithm>
#include <set>

namespace headrace::detail {
namespace {

using namespace test;

block random_rows(uint64_t seed, size_t rows) {
  std::mt19937_64 random{seed};
  std::vector<int64_t> whole;
  std::vector<float> triples;
  std::vector<std::vector<float>> runs;
  std::vector<std::string> words;
  std::vector<uint8_t> bytes;
  for (size_t r = 0; r < rows; ++r) {
    whole.push_back(static_cast<int64_t>(random() % 9) - 3);
    for (int i = 0; i < 3; ++i)
      triples.push_back(static_cast<float>(static_cast<int>(random() % 2000) - 1000) * 0.37f);
    runs.emplace_back();
    for (auto n = random() % 5; n != 0; --n)
      runs.back().push_back(static_cast<float>(random() % 100) * 0.5f);
    static const char* some[] = {"12", "a b", "", " -7 ", "x  y z", "3.5", "0"};
    words.emplace_back(some[random() % std::size(some)]);
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(random()));
  }
  auto out = rows_of(
    {scalars(whole), tensors(triples, {3}), vectors(runs), texts(words), tensors(bytes, {2, 2})});
  for (size_t r = 0; r < rows; ++r)
    if (random() % 20 == 0)
      out.errors.push_back({static_cast<uint32_t>(r), data_loss("a row that was lost before")});
  return out;
}

const auto random_spec = element_spec::tuple({
  tensor_spec{dtype::int64, {}},
  tensor_spec{dtype::float32, {3}},
  tensor_spec{dtype::float32, {shape::unknown}},
  tensor_spec{dtype::string, {}},
  tensor_spec{dtype::uint8, {2, 2}},
});

function random_function(uint64_t seed) {
  return trace(random_spec, [&](expr a, expr b, expr c, expr d, expr e) {
    return expression_maker{seed, {a, b, c, d, e}}.make(25);
  });
}

/// The seed of the first function: HEADRACE_TEST_SEED, or 1.
uint64_t first_seed() {
  const char* given = std::getenv("HEADRACE_TEST_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

void note(const expr_ptr& x, std::set<const expr_node*>& known, std::set<expr_op>& seen) {
  if (!known.insert(x.get()).second)
    return;
  seen.insert(x->op);
  for (const auto& input : x->inputs) note(input, known, seen);
}

TEST(RandomExpressions, AreOfEveryFunction) {
  // These functions do not occur in random expressions. Operators draw the seeds of rows, so
  // row_seeds_test.cpp tests row_seed. The tests SplitEach, GatherBatches, DecodeCsv, ReadFile,
  // TensorProto and ComplexParts apply the other functions to blocks of one row, and on every
  // variant of the kernels.
  std::set<expr_op> wanted,
    seen{expr_op::row_seed,         expr_op::split_values, expr_op::split_lengths,
         expr_op::gather_batches,   expr_op::decode_csv,   expr_op::read_file,
         expr_op::serialize_tensor, expr_op::parse_tensor, expr_op::complex_part};
  for (uint16_t i = 0; i < 1000; ++i)
    if (to_string(static_cast<expr_op>(i)) != "unknown function")
      wanted.insert(static_cast<expr_op>(i));
  for (uint64_t seed = 1; seed <= 3000 && seen.size() < wanted.size(); ++seed) {
    const auto f = random_function(seed);
    std::set<const expr_node*> known;
    for (const auto& x : f.tensors) note(x, known, seen);
  }
  for (const auto op : wanted) EXPECT_TRUE(seen.contains(op)) << to_string(op);
}

TEST(RandomExpressions, GiveTheSameRowsHoweverTheyAreCutIntoBlocks) {
  size_t failed = 0, all = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto f = random_function(seed);
    const auto compiled = compile(f);
    std::set<const expr_node*> known;
    std::set<expr_op> ops;
    for (const auto& x : f.tensors) note(x, known, ops);
    // A loop takes as many steps as the row of the block that needs the most steps, so a smaller
    // block may need fewer kernel calls.
    const bool loops = ops.contains(expr_op::while_loop);
    const auto in = random_rows(seed, 60);
    kernel_counter counter;
    const auto whole = compiled.run(in, nullptr, counter);
    const auto calls = counter.calls;
    const auto wanted = print_rows(whole);
    failed += whole.errors.size();
    all += whole.rows;
    std::mt19937_64 random{seed};
    for (size_t size : {size_t{1}, size_t{2}, size_t{7}, size_t{0}}) {
      std::vector<std::string> got;
      for (size_t r = 0; r < in.rows;) {
        const auto n = std::min(in.rows - r, size == 0 ? 1 + random() % 13 : size);
        counter.calls = 0;
        const auto part = compiled.run(in.slice(r, n), nullptr, counter);
        if (loops)
          ASSERT_LE(counter.calls, calls);
        else
          ASSERT_EQ(counter.calls, calls);
        for (auto& row : print_rows(part)) got.push_back(std::move(row));
        r += n;
      }
      for (size_t r = 0; r < wanted.size(); ++r) ASSERT_EQ(got[r], wanted[r]) << "row " << r;
    }
  }
  // Many rows failed, and many did not.
  EXPECT_GT(failed, all / 20);
  EXPECT_LT(failed, all * 19 / 20);
}

TEST(RandomExpressions, GiveTheSpecsThatWereAnnounced) {
  size_t checked = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto f = random_function(seed);
    const auto out = run(f, random_rows(seed, 20));
    for (size_t r = 0; r < out.rows; ++r)
      if (out.error_at(r) == nullptr && ++checked != 0)
        for (size_t i = 0; i < out.columns.size(); ++i) {
          const tensor_spec row{out.columns[i].type(), out.columns[i].shape_of(r)};
          ASSERT_TRUE(f.tensors[i]->spec.accepts(row))
            << to_string(row) << " is not " << to_string(f.tensors[i]->spec);
        }
  }
  EXPECT_GT(checked, size_t{300 * 20 / 20});
}

TEST(RandomExpressions, GiveTheSameBitsInEveryVariantOfTheKernels) {
  for (uint64_t seed = 1000 * first_seed(); seed < 1000 * first_seed() + 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto f = random_function(seed);
    const auto in = random_rows(seed, 50);
    std::vector<std::string> first;
    for (const auto target : targets_here()) {
      chosen_target choice{target};
      const auto rows = print_rows(run(f, in));
      if (first.empty())
        first = rows;
      ASSERT_EQ(rows, first) << hwy::TargetName(target);
    }
  }
}

TEST(RandomExpressions, AFusedPassGivesWhatItsFunctionsGiveOneByOne) {
  size_t compared = 0;
  for (uint64_t seed = 2000 * first_seed(); seed < 2000 * first_seed() + 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto f = random_function(seed);
    const auto in = random_rows(seed, 30);
    const auto wanted = print_rows(run(f, in));
    // The function also returns every intermediate result, so that a fused pass must write each of
    // them.
    auto open = f;
    std::vector<expr_ptr> todo = f.tensors;
    for (size_t i = 0; i < todo.size(); ++i)
      for (const auto& input : todo[i]->inputs)
        if (std::find(todo.begin(), todo.end(), input) == todo.end())
          todo.push_back(input);
    open.tensors = todo;
    auto out = run(open, in);
    out.columns.resize(f.tensors.size());
    const auto got = print_rows(out);
    for (size_t r = 0; r < wanted.size(); ++r) {
      // With more results more rows can fail. The rows that did not fail must be equal.
      if (out.error_at(r) == nullptr) {
        ASSERT_EQ(got[r], wanted[r]) << "row " << r;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, size_t{150 * 30 / 20});
}

} // namespace
} // namespace headrace::detail
