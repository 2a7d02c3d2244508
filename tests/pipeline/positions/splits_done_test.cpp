#include "tests/pipeline/support/rows.hpp"

#include <gtest/gtest.h>

// The splits that are done at a position: an iterator that is restored there reads nothing of them.

namespace headrace::detail {
namespace {

using test::range;
using test::scripted_splits;

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
