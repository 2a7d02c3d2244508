#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The splits that must be read again if everything but the rows that were given is lost.

namespace headrace::detail {
namespace {

using test::range;
using test::scripted_splits;
using test::traced;
using testing::ElementsAre;

/// The oldest split of each source after `rows` rows, read in blocks of `block_rows`.
std::vector<split_place> oldest_after(const dataset_ptr& graph, size_t rows,
                                      size_t block_rows = 1) {
  iterator_context context;
  auto it = make_iterator(graph, context).value();
  test::read_all(*it, test::always(block_rows), rows);
  return oldest_splits_held(*it->save());
}

split_place split(uint64_t index, uint32_t source = 0, uint64_t pass = 0) {
  return {source, pass, index};
}

TEST(OldestSplitHeld, IsTheNextOneWhereNothingIsHeld) {
  EXPECT_THAT(oldest_after(range(0, 20), 0), ElementsAre(split(0)));
  EXPECT_THAT(oldest_after(range(0, 20), 7), ElementsAre(split(7)));
  EXPECT_THAT(oldest_after(make_batch(range(0, 20), 3).value(), 2), ElementsAre(split(6)));
  const auto odd = traced(range(0, 20), [](expr x) { return x % 2 == 1; });
  EXPECT_THAT(oldest_after(make_filter(range(0, 20), odd).value(), 3), ElementsAre(split(6)));
  EXPECT_THAT(oldest_after(make_repeat(range(0, 20), 2).value(), 23), ElementsAre(split(3, 0, 1)));
}

TEST(OldestSplitHeld, IsNoneAfterTheEnd) {
  EXPECT_THAT(oldest_after(range(0, 20), 21), ElementsAre());
}

TEST(OldestSplitHeld, IsThatOfTheOldestRowInABuffer) {
  const auto graph = make_shuffle(range(0, 40), 5, 1).value();
  const auto order = test::read_numbers(graph);
  for (size_t rows = 1; rows < 40; ++rows) {
    // The smallest number that was not given yet is in the buffer, or is the next to be read.
    auto left =
      std::vector<int64_t>{order.begin() + static_cast<std::ptrdiff_t>(rows), order.end()};
    const auto oldest = static_cast<uint64_t>(*std::min_element(left.begin(), left.end()));
    const auto got = oldest_after(graph, rows);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_LE(got[0].split, oldest);
    EXPECT_GE(got[0].split + 5, oldest); // the first block had five rows
  }
}

TEST(OldestSplitHeld, UnderAZipIsThatOfEachInput) {
  const auto graph = make_zip({range(0, 20), make_batch(range(0, 20), 3).value()}).value();
  EXPECT_THAT(oldest_after(graph, 2), ElementsAre(split(2, 0), split(6, 1)));
}

TEST(OldestSplitHeld, OfWindowsIsTheFirstOfTheOneThatIsRead) {
  const auto windows = make_window(range(0, 20), 4, 2).value();
  const auto graph =
    make_flat_map(windows, traced(windows, [](dataset_ptr w) { return w; })).value();
  EXPECT_THAT(oldest_after(graph, 1), ElementsAre(split(0)));
  const auto got = oldest_after(graph, 6); // the second window begins with 2
  ASSERT_EQ(got.size(), 1u);
  EXPECT_LE(got[0].split, 2u);
  EXPECT_THAT(oldest_after(graph, 20), ElementsAre(split(8)));
}

TEST(OldestSplitHeld, OfGroupsIsTheOldestInAnOpenOne) {
  const auto in = range(0, 30);
  const auto key = traced(in, [](expr x) { return x % 3; });
  const auto reduce = std::make_shared<const function>(trace(
    grouped_spec(in->spec), [](expr, dataset_ptr rows) { return make_batch(rows, 9).value(); }));
  const auto graph = make_group_by_window(in, key, reduce, 3).value();
  // (0, 3, 6) is read while 1, 2, 4, 5 are in open groups; then (1, 4, 7), while 2, 5 are.
  EXPECT_THAT(oldest_after(graph, 1), ElementsAre(split(0)));
  EXPECT_THAT(oldest_after(graph, 2), ElementsAre(split(1)));
  EXPECT_THAT(oldest_after(graph, 3), ElementsAre(split(2)));
}

TEST(OldestSplitHeld, CountsRowsThatArePrefetched) {
  const auto graph = make_prefetch(make_batch(range(0, 20), 3).value(), 4).value();
  const auto got = oldest_after(graph, 2);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_LE(got[0].split, 6u);
  EXPECT_GE(got[0].split, 3u);
}

TEST(OldestSplitHeld, OfFilesIsTheOneThatIsBeingRead) {
  test::scratch_folder folder;
  const std::vector<std::string> files{folder.write("a", "1\n2\n"), folder.write("b", "3\n4\n")};
  const auto graph = make_text_lines(string_constant(files)).value();
  EXPECT_THAT(oldest_after(graph, 1), ElementsAre(split(0)));
  EXPECT_THAT(oldest_after(graph, 3), ElementsAre(split(1)));
}

TEST(OldestSplitHeld, IsThatOfTheLeaseWhereSplitsAreGiven) {
  scripted_splits splits;
  splits.script = {{0, 0, split_range{10, 4}}, {0, 0, split_range{2, 4}}};
  iterator_context context;
  context.splits = &splits;
  const auto graph = make_batch(range(0, 20), 3).value();
  auto it = make_iterator(graph, context).value();
  EXPECT_THAT(oldest_splits_held(*it->save()), ElementsAre());
  it->next({.rows = 1});
  EXPECT_THAT(oldest_splits_held(*it->save()), ElementsAre(split(13)));
  it->next({.rows = 1}); // the batch 13, 2, 3
  const auto saved = it->save();
  EXPECT_THAT(oldest_splits_held(*saved), ElementsAre(split(4)));
  // A provider that answers from its log gives a restored iterator the same splits again.
  scripted_splits again;
  again.script = {{0, 0, split_range{10, 4}}, {0, 0, split_range{2, 4}}, {0, 0, split_range{7, 1}}};
  context.splits = &again;
  auto restored = make_iterator(graph, context).value();
  ASSERT_EQ(restored->restore(*saved), status{});
  EXPECT_THAT(test::read_all(*restored), ElementsAre("[3]{4 5 7}"));
}

/// The splits that are done after `rows` rows of the graph, whose sources are given splits as in
/// `script`.
std::vector<splits_done> done_after(const dataset_ptr& graph, size_t rows,
                                    decltype(scripted_splits::script) script) {
  scripted_splits splits;
  splits.script = std::move(script);
  iterator_context context;
  context.splits = &splits;
  auto it = make_iterator(graph, context).value();
  test::read_all(*it, test::always(1), rows);
  return splits_done_at(*it->save()).value();
}
using done_list = std::vector<splits_done>;

TEST(SplitsDone, AreThoseBeforeTheNextOneInTheOrderOfTheirLeases) {
  const auto after = [](size_t rows) {
    return done_after(range(0, 20), rows, {{0, 0, split_range{10, 2}}, {0, 0, split_range{2, 4}}});
  };
  EXPECT_EQ(after(1), (done_list{{.split = 11}}));
  EXPECT_EQ(after(2), (done_list{{.split = 11, .through = true}})) << "the next is not known";
  EXPECT_EQ(after(3), (done_list{{.split = 3}}));
}

TEST(SplitsDone, AreNoneOfWhichRowsAreHeld) {
  const auto after = [](size_t rows) {
    return done_after(make_batch(range(0, 20), 3).value(), rows,
                      {{0, 0, split_range{10, 2}}, {0, 0, split_range{2, 6}}});
  };
  EXPECT_EQ(after(1), (done_list{{.split = 3}})) << "10, 11, 2";
  const auto graph = make_shuffle(range(0, 40), 5, 1).value();
  const auto early = done_after(graph, 1, {{0, 0, split_range{30, 3}}, {0, 0, split_range{0, 20}}});
  ASSERT_EQ(early.size(), 1u);
  EXPECT_TRUE(!early[0].split || *early[0].split >= 30)
    << "of the first lease rows are in the buffer, and of the second one, too";
}

TEST(SplitsDone, LeaveAFileOutThatIsBeingRead) {
  test::scratch_folder folder;
  const std::vector<std::string> files{folder.write("a", "1\n2\n"), folder.write("b", "3\n4\n")};
  const auto graph = make_text_lines(string_constant(files)).value();
  EXPECT_EQ(done_after(graph, 1, {{0, 0, split_range{1, 1}}, {0, 0, split_range{0, 1}}}),
            (done_list{{.split = 1}}));
  EXPECT_EQ(done_after(graph, 3, {{0, 0, split_range{1, 1}}, {0, 0, split_range{0, 1}}}),
            (done_list{{.split = 0}}));
}

TEST(SplitsDone, CountPasses) {
  const auto graph = make_repeat(range(0, 20), 2).value();
  EXPECT_EQ(done_after(graph, 3, {{0, 0, split_range{0, 2}}, {0, 1, split_range{5, 3}}}),
            (done_list{{.pass = 1, .split = 6}}));
}

} // namespace
} // namespace headrace::detail
