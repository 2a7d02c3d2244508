#include "tests/pipeline/random/generator.hpp"
#include "tests/pipeline/saving/divisible.hpp"
#include "tests/pipeline/saving/saving.hpp"
#include "tests/support/test_seed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <thread>

// Random graphs are saved in pieces by several threads at once, each piece by one of them or by
// several. The loaded elements must be those that the generator computed element by element.

namespace headrace::detail {
namespace {

using namespace test::saving;
using test::random::generator;

std::vector<std::string> texts_of(const elements& xs) {
  std::vector<std::string> out;
  for (const auto& x : xs) out.push_back(x.text());
  return out;
}

/// True if a save in pieces may give the elements in another order than one reading of the whole
/// graph, because the graph has a shuffle, an interleave or a sample_from.
bool has_own_order(const dataset_node& node) {
  if (node.op == dataset_op::shuffle || node.op == dataset_op::interleave
      || node.op == dataset_op::sample_from)
    return true;
  return std::ranges::any_of(node.inputs, [](const auto& input) { return has_own_order(*input); });
}

/// Lets three threads write all pieces, each piece one to three times. Returns the errors.
std::vector<status> write_all(const std::string& folder, const dataset_ptr& graph,
                              const save_plan& plan, std::mt19937_64& random) {
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < plan.pieces(); ++i) order.insert(order.end(), 1 + random() % 3, i);
  std::ranges::shuffle(order, random);
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::vector<status> failures;
  const auto work = [&] {
    for (size_t i = next++; i < order.size(); i = next++) {
      const auto how = write(folder, graph, plan, order[i]).status();
      std::lock_guard lock{mutex};
      if (!how.ok())
        failures.push_back(how);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work);
  for (auto& one : threads) one.join();
  return failures;
}

struct saved_sample {
  bool divided = false;
  bool failed = false;
};

saved_sample expect_saved(const sample& what, std::mt19937_64& random, bool in_order) {
  test::scratch_folder scratch;
  const auto folder = scratch.path() + "/saved";
  auto opened =
    open_save(folder, what.graph, terms_of(what.graph, static_cast<uint32_t>(1 + random() % 9)),
              surroundings());
  // If a source fails at once, no plan can be made.
  const auto failures =
    opened ? write_all(folder, what.graph, opened->plan, random) : std::vector{opened.status()};
  const saved_sample out{opened && opened->plan.divided(),
                         std::ranges::any_of(what.want, [](const auto& x) { return x.failed; })};
  if (out.failed) {
    EXPECT_FALSE(failures.empty());
    const auto all = test::read_all(what.graph);
    for (const auto& why : failures)
      EXPECT_TRUE(std::ranges::count(all, "!" + to_string(why)) != 0) << to_string(why);
    EXPECT_TRUE(!opened || !finish_save(folder, opened->plan).ok());
    return out;
  }
  for (const auto& why : failures) ADD_FAILURE() << to_string(why);
  const auto done = opened ? finish_save(folder, opened->plan) : opened.status();
  EXPECT_TRUE(done.ok()) << to_string(done.status());
  if (!done)
    return out;
  EXPECT_EQ(done->rows, what.want.size());
  auto want = texts_of(what.want), got = test::read_all(loaded(folder));
  if (!in_order || (out.divided && has_own_order(*what.graph)))
    EXPECT_EQ(sorted(std::move(got)), sorted(std::move(want))) << opened->plan.whole_because;
  else
    EXPECT_EQ(got, want) << opened->plan.whole_because;
  return out;
}

TEST(RandomSaves, GiveWhatAnElementByElementEvaluationGives) {
  const auto seed = test::test_seed();
  size_t divided = 0, failed = 0;
  constexpr size_t samples = 60, most = 4 * samples;
  for (uint64_t i = 0; i < samples || (divided <= samples / 5 && i < most); ++i) {
    SCOPED_TRACE(fmt::format("seed {}, pipeline {}", seed, i));
    test::scratch_folder folder;
    generator make{seed + i * 1000003, folder};
    auto what = make.make(static_cast<int>(make.below(4)));
    if (make.below(3) == 0)
      what = make.batch(what);
    std::mt19937_64 random{seed + i};
    const auto how = expect_saved(what, random, true);
    divided += how.divided;
    failed += how.failed;
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_GT(divided, samples / 5);
  EXPECT_GT(divided + failed, divided);
}

TEST(RandomSaves, GiveTheSameElementsInAnyOrderWhereOrderDoesNotMatter) {
  const auto seed = test::test_seed();
  size_t divided = 0;
  constexpr size_t samples = 30, most = 4 * samples;
  for (uint64_t i = 0; i < samples || (divided <= samples / 5 && i < most); ++i) {
    SCOPED_TRACE(fmt::format("seed {}, pipeline {}", seed, i));
    test::scratch_folder folder;
    generator make{seed + i * 1000003, folder};
    const auto what = make.make_unordered(static_cast<int>(1 + make.below(3)));
    std::mt19937_64 random{seed + i};
    divided += expect_saved(what, random, false).divided;
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_GT(divided, samples / 5);
}

TEST(RandomSaves, GiveZipsBatchesAndPassesInTheirOrder) {
  const auto seed = test::test_seed();
  size_t divided = 0;
  constexpr size_t samples = 50;
  for (uint64_t i = 0; i < samples; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, pipeline {}", seed, i));
    test::scratch_folder folder;
    divisible_maker make{seed + i * 1000003, folder};
    const auto what = make.make(static_cast<int>(make.below(3)));
    std::mt19937_64 random{seed + i};
    divided += expect_saved(what, random, true).divided;
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_GT(divided, samples / 2);
}

} // namespace
} // namespace headrace::detail
