#include "headrace/pipeline/functions/image.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"
#include "headrace/pipeline/iterator/op_counters.hpp"
#include "headrace/pipeline/operators/rows/parallel_blocks.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/support/meeting.hpp"
#include "tests/support/resident_bytes.hpp"

#include <algorithm>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/info.h>
#include <sys/stat.h>
#include <thread>

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::read_numbers;
using test::traced;

/// The numbers from 0 to 19, evaluated by parallel calls of a function. The call for 0 does not
/// return before the test sets `go`.
struct slow_first {
  explicit slow_first(bool ordered)
    : blocks(make_iterator(range(0, 20), context).value(),
             [held = go.get_future().share()](const block& in, uint64_t&) {
               if (in.columns[0].values<int64_t>()[0] == 0)
                 held.wait();
               return in;
             },
             {.calls = std::make_shared<detail::call_gate>(size_t{3}),
              .ordered = ordered,
              .may_wait = true},
             {}) {}
  ~slow_first() {
    if (!gone)
      go.set_value();
  }
  std::optional<int64_t> next() {
    uint64_t calls = 0;
    const auto out = blocks.next({.rows = 1}, calls);
    return out ? std::optional{out->columns[0].values<int64_t>()[0]} : std::nullopt;
  }

  iterator_context context;
  std::promise<void> go;
  bool gone = false;
  detail::parallel_blocks blocks;
};

TEST(ParallelBlocks, OvertakeASlowOneWhereOrderDoesNotMatter) {
  slow_first x{false};
  std::vector<int64_t> got;
  for (int i = 0; i < 19; ++i) got.push_back(*x.next());
  EXPECT_EQ(std::ranges::count(got, 0), 0); // the number 0 is still being evaluated
  x.go.set_value();
  x.gone = true;
  EXPECT_EQ(x.next(), 0);
  EXPECT_EQ(x.next(), std::nullopt);
  std::ranges::sort(got);
  EXPECT_EQ(got, read_numbers(range(1, 20)));
}

TEST(ParallelBlocks, ThatWereOvertakenArePartOfThePosition) {
  slow_first x{false};
  std::vector<int64_t> got;
  for (int i = 0; i < 7; ++i) got.push_back(*x.next());
  position at;
  x.blocks.save_to(at);
  slow_first y{false};
  y.go.set_value();
  y.gone = true;
  detail::position_reader from{at};
  ASSERT_TRUE(y.blocks.restore(from).ok());
  EXPECT_TRUE(from.finish().ok());
  while (auto n = y.next()) got.push_back(*n);
  std::ranges::sort(got);
  EXPECT_EQ(got, read_numbers(range(0, 20)));
}

/// Reads numbers that are evaluated by parallel calls. Each call waits until `together` calls run
/// at the same time, and drops its rows if they do not. So all numbers are returned only if that
/// many calls run at once.
std::vector<int64_t> read_in_company(size_t together, bool may_wait) {
  iterator_context context;
  const auto count = static_cast<int64_t>(10 * together);
  auto all = std::make_shared<test::meeting>(together);
  detail::parallel_blocks blocks{
    make_iterator(range(0, count), context).value(),
    [all](const block& in, uint64_t&) { return all->come() ? in : in.slice(0, 0); },
    {.calls = std::make_shared<detail::call_gate>(together), .may_wait = may_wait},
    {}};
  std::vector<int64_t> out;
  uint64_t calls = 0;
  while (const auto one = blocks.next({.rows = 1}, calls))
    out.push_back(one->columns[0].values<int64_t>()[0]);
  return out;
}

TEST(ParallelBlocks, AreInWorkOnEveryCoreWhileTheReaderWaitsForTheFirst) {
  const auto cores = static_cast<size_t>(oneapi::tbb::info::default_concurrency());
  EXPECT_EQ(read_in_company(cores, false),
            read_numbers(range(0, static_cast<int64_t>(10 * cores))));
}

TEST(ParallelBlocks, OfAFunctionThatMayWaitHaveAsManyThreadsAsTheyAsk) {
  const auto many = static_cast<size_t>(oneapi::tbb::info::default_concurrency()) + 7;
  EXPECT_EQ(read_in_company(many, true), read_numbers(range(0, static_cast<int64_t>(10 * many))));
}

TEST(ParallelBlocks, OfAFunctionThatHangsDoNotTakeTheReaderWithThem) {
  for (const bool ordered : {true, false}) {
    auto go = std::make_shared<std::promise<void>>();
    auto begun = std::make_shared<std::promise<void>>();
    std::stop_source stop;
    iterator_context context;
    {
      detail::parallel_blocks blocks{
        make_iterator(range(0, 20), context).value(),
        [held = go->get_future().share(), begun](const block& in, uint64_t&) {
          if (in.columns[0].values<int64_t>()[0] == 0)
            begun->set_value();
          held.wait();
          return in;
        },
        {.calls = std::make_shared<detail::call_gate>(size_t{3}),
         .ordered = ordered,
         .may_wait = true},
        stop.get_token()};
      std::jthread stopper{[&] {
        begun->get_future().wait();
        stop.request_stop();
      }};
      uint64_t calls = 0;
      EXPECT_EQ(blocks.next({.rows = 1}, calls), std::nullopt);
    }
    go->set_value();
  }
}

/// Sums a million numbers for each element, which takes far longer than waking a thread.
dataset_ptr costly(const dataset_ptr& in) {
  return make_map(in, traced(in,
                             [](expr x) {
                               const auto many = constant(std::vector<double>(1 << 20, 1.0));
                               return x + cast<int64_t>(reduce_sum(many * cast<double>(x)) * 0.0);
                             }))
    .value();
}

TEST(Map, OfCostlyRowsRunsSeveralAtATimeInOrder) {
  op_counters counters;
  iterator_context context;
  const auto graph = costly(range(0, 12));
  context.counters = [&](const dataset_node& node) {
    return &node == graph.get() ? &counters : nullptr;
  };
  EXPECT_EQ(read_all(*make_iterator(graph, context).value(), always(1)), read_all(range(0, 12)));
  EXPECT_GT(counters.samples, 0); // blocks were evaluated ahead of the reader
}

/// Decodes an image for each element.
dataset_ptr of_images(const dataset_ptr& in, int64_t calls) {
  return make_map(in,
                  traced(in,
                         [](expr x) {
                           const auto pixels = fill({8, 8, 3}, cast<uint8_t>(x));
                           return image::decode_jpeg(image::encode_jpeg(pixels));
                         }),
                  calls)
    .value();
}

TEST(Map, OfImagesRunsSeveralAtATimeFromTheFirstRowOn) {
  for (const int64_t calls : {0, -1}) {
    op_counters counters;
    iterator_context context;
    const auto graph = of_images(range(0, 100), calls);
    context.counters = [&](const dataset_node& node) {
      return &node == graph.get() ? &counters : nullptr;
    };
    auto it = make_iterator(graph, context).value();
    const auto first = it->next({.rows = 32});
    ASSERT_TRUE(first);
    EXPECT_EQ(first->rows, 1u) << "others wait for a block of many rows";
    EXPECT_EQ(counters.calls, std::min(2u, std::thread::hardware_concurrency()));
  }
}

TEST(Map, LooksAtCostlyRowsOneByOneUntilItRunsSeveral) {
  iterator_context context;
  auto it = make_iterator(costly(range(0, 40)), context).value();
  std::vector<size_t> rows;
  while (const auto b = it->next({.rows = 8})) rows.push_back(b->rows);
  ASSERT_GE(rows.size(), 4u);
  EXPECT_EQ(std::vector<size_t>(rows.begin(), rows.begin() + 4), (std::vector<size_t>{8, 1, 1, 1}));
}

TEST(Map, OfCostlyRowsStaysAloneWhereNothingIsToBeChosen) {
  op_counters counters;
  iterator_context context;
  const auto map = costly(range(0, 8));
  context.counters = [&](const dataset_node& node) {
    return &node == map.get() ? &counters : nullptr;
  };
  for (const graph_options& options : {graph_options{.autotune = false}, {.threads = 1}}) {
    const auto graph = make_options(map, options).value();
    EXPECT_EQ(read_all(*make_iterator(graph, context).value(), always(1)), read_all(range(0, 8)));
    EXPECT_EQ(counters.samples, 0);
  }
}

TEST(Map, OfCostlyRowsGoesOnWhereItStood) {
  const auto graph = costly(range(0, 12));
  for (const size_t stop : {3, 5, 9}) {
    iterator_context context;
    auto first = make_iterator(graph, context).value();
    auto got = read_all(*first, always(1), stop);
    auto second = make_iterator(graph, context).value();
    ASSERT_EQ(second->restore(*first->save()), status{});
    for (auto& row : read_all(*second, always(1))) got.push_back(row);
    EXPECT_EQ(got, read_all(range(0, 12))) << "after " << stop;
  }
}

TEST(ParallelFilter, GivesWhatAFilterGives) {
  const auto in = range(0, 1000);
  const auto third = traced(in, [](expr x) { return x % 3 == 1 || 6 / (x % 7) == 100; });
  const auto want = read_all(make_filter(in, third).value());
  for (int64_t parallel : {-1, 1, 4})
    for (size_t rows : {1, 7, 1000})
      EXPECT_EQ(read_all(make_filter(in, third, parallel).value(), always(rows)), want);
}

dataset_ptr unordered(const dataset_ptr& graph) {
  return make_options(graph, {.deterministic = false}).value();
}

TEST(Unordered, OperatorsGiveTheSameRows) {
  const auto in = range(0, 200);
  const auto f = traced(in, [](expr x) { return x * 3; });
  const auto odd = traced(in, [](expr x) { return x % 2 == 1; });
  const auto inner = traced(in, [](expr x) {
    return make_range(x.node(), (x + x % 4).node(), scalar_constant(1)).value();
  });
  for (const auto& graph : {make_map(in, f, 4).value(), make_filter(in, odd, 4).value(),
                            make_interleave(in, inner, 5, 2, 3).value()})
    for (size_t rows : {1, 7, 1000}) {
      auto got = read_numbers(unordered(graph), always(rows));
      auto want = read_numbers(graph);
      std::ranges::sort(got);
      std::ranges::sort(want);
      EXPECT_EQ(got, want);
    }
}

TEST(Unordered, InterleaveGoesOnBesideAFileThatKeepsItWaiting) {
  test::scratch_folder folder;
  const auto slow = folder.path() + "/slow";
  ASSERT_EQ(::mkfifo(slow.c_str(), 0600), 0);
  const std::vector<std::string> names{slow, folder.write("fast", "1\n2\n3\n")};
  const auto files = make_from_tensor_slices({string_constant(names)}).value();
  const auto lines = traced(files, [](expr x) { return make_text_lines(x.node()).value(); });
  iterator_context context;
  auto it = make_iterator(make_interleave(files, lines, 2, 1, 2, false).value(), context).value();
  EXPECT_EQ(read_all(*it, always(1), 3), (std::vector<std::string>{"'1'", "'2'", "'3'"}));
  std::ofstream{slow} << "late\n";
  EXPECT_EQ(read_all(*it), std::vector<std::string>{"'late'"});
}

TEST(Unordered, AnOperatorThatKeepsTheOrderKeepsIt) {
  test::scratch_folder folder;
  const auto slow = folder.path() + "/slow";
  ASSERT_EQ(::mkfifo(slow.c_str(), 0600), 0);
  const std::vector<std::string> names{slow, folder.write("fast", "1\n2\n")};
  const auto files = make_from_tensor_slices({string_constant(names)}).value();
  const auto lines = traced(files, [](expr x) { return make_text_lines(x.node()).value(); });
  const auto graph = unordered(make_interleave(files, lines, 2, 1, 2, true).value());
  std::jthread writer{[&] { std::ofstream{slow} << "late\n"; }};
  EXPECT_EQ(read_all(graph, always(1)), (std::vector<std::string>{"'late'", "'1'", "'2'"}));
}

TEST(Unordered, PositionsKeepEveryRow) {
  const auto in = range(0, 60);
  const auto odd = traced(in, [](expr x) { return x % 2 == 1; });
  const auto inner = traced(in, [](expr x) {
    return make_range(x.node(), (x + x % 4).node(), scalar_constant(1)).value();
  });
  for (const auto& plain :
       {make_filter(in, odd, 4).value(), make_interleave(in, inner, 5, 2, 3).value()}) {
    const auto graph = unordered(plain);
    auto want = read_all(plain);
    std::ranges::sort(want);
    for (size_t stop = 0; stop <= want.size(); stop += 3) {
      iterator_context context;
      auto first = make_iterator(graph, context).value();
      auto got = read_all(*first, always(2), stop);
      auto second = make_iterator(graph, context).value();
      ASSERT_EQ(second->restore(*first->save()), status{});
      for (auto& row : read_all(*second, always(2))) got.push_back(row);
      std::ranges::sort(got);
      ASSERT_EQ(got, want) << "after " << stop;
    }
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Parallel, LeavesNothingInMemoryWhenItIsNotReadToTheEnd) {
  const auto in = range(0, 100'000);
  const auto graph = make_map(in, traced(in, [](expr x) { return x * x; }), 4).value();
  const auto begin = [&](int times) {
    for (int i = 0; i < times; ++i) {
      iterator_context context;
      auto it = make_iterator(graph, context).value();
      EXPECT_TRUE(it->next({.rows = 10}));
    }
  };
  begin(500);
  const auto before = test::resident_bytes();
  constexpr int times = 3'000;
  begin(times);
  const auto after = test::resident_bytes();
  EXPECT_LT(after, before + size_t{1'000} * times) << "each left bytes behind";
}
#endif

TEST(Options, NearestToTheResultWin) {
  auto inner = make_options(range(0, 3), {.deterministic = false, .threads = 3}).value();
  auto graph = make_options(make_take(inner, 2).value(), {.threads = 5, .memory = 7}).value();
  EXPECT_EQ(options_of(*graph), (graph_options{.deterministic = false, .threads = 5, .memory = 7}));
  EXPECT_EQ(read_numbers(graph), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(to_string(make_options(range(0, 3), {.threads = 0}).status()),
            "invalid_argument: options: threads is 0; it must be at least 1");
}

TEST(Options, OfDatasetsThatFunctionsGiveChangeNothing) {
  const auto in = make_options(range(0, 3), {.threads = 5}).value();
  const auto inner = traced(in, [](expr) {
    return make_options(range(0, 2), {.deterministic = false, .threads = 2}).value();
  });
  for (const auto& graph :
       {make_flat_map(in, inner).value(), make_interleave(in, inner, 2, 1, 2).value()})
    EXPECT_EQ(options_of(*graph), (graph_options{.threads = 5}));
}

} // namespace
} // namespace headrace::detail
