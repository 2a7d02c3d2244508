#include "tests/pipeline/support/rows.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::read_numbers;
using testing::HasSubstr;

dataset_ptr shuffled(const dataset_ptr& source, uint64_t seed = 5, bool reshuffle = true) {
  return make_global_shuffle(source, seed, reshuffle).value();
}

std::vector<std::string> digit_files() {
  std::vector<std::string> out;
  for (int i = 0; i < 4; ++i)
    out.push_back(test::data_path(fmt::format("digits/digits-0000{}-of-00004.tfrecord", i)));
  return out;
}

template <class T>
std::vector<T> sorted(std::vector<T> x) {
  std::ranges::sort(x);
  return x;
}

TEST(GlobalShuffle, GivesEachRowOnceInAnotherOrder) {
  const auto got = read_numbers(shuffled(range(3, 1000, 2)));
  const auto all = read_numbers(range(3, 1000, 2));
  EXPECT_NE(got, all);
  EXPECT_EQ(sorted(got), all);
  EXPECT_EQ(read_numbers(shuffled(range(3, 1000, 2)), always(1)), got);
  EXPECT_NE(read_numbers(shuffled(range(3, 1000, 2), 6)), got);
  EXPECT_EQ(shuffled(range(3, 1000, 2))->cardinality, 499);
  EXPECT_TRUE(read_numbers(shuffled(range(0, 0))).empty());
  EXPECT_EQ(read_numbers(shuffled(range(7, 8))), std::vector<int64_t>{7});
}

TEST(GlobalShuffle, HasANewOrderEachRepetition) {
  const auto twice = read_numbers(make_repeat(shuffled(range(0, 100)), 2).value());
  const std::vector<int64_t> first{twice.begin(), twice.begin() + 100};
  const std::vector<int64_t> second{twice.begin() + 100, twice.end()};
  EXPECT_NE(first, second);
  EXPECT_EQ(sorted(first), sorted(second));
  const auto same = read_numbers(make_repeat(shuffled(range(0, 100), 5, false), 2).value());
  EXPECT_TRUE(std::equal(same.begin(), same.begin() + 100, same.begin() + 100));
}

TEST(GlobalShuffle, OfSlicesKeepsRowsTogether) {
  const auto pairs =
    make_from_tensor_slices({string_constant(std::vector<std::string>{"a", "b", "c"}),
                             string_constant(std::vector<std::string>{"a", "b", "c"})},
                            structure::tuple({structure{}, structure{}}))
      .value();
  EXPECT_THAT(read_all(shuffled(pairs)),
              testing::UnorderedElementsAre("'a'|'a'", "'b'|'b'", "'c'|'c'"));
}

TEST(GlobalShuffle, IsTheSameForAnyNumberOfWorkers) {
  const auto whole = read_numbers(shuffled(range(0, 50)));
  std::vector<int64_t> parts(50);
  for (uint64_t worker = 0; worker < 3; ++worker) {
    test::scripted_splits splits;
    for (uint64_t at = worker * 5; at < 50; at += 15)
      splits.script.push_back({0, 0, split_range{at, 5}});
    iterator_context context;
    context.splits = &splits;
    auto it = make_iterator(shuffled(range(0, 50)), context).value();
    while (auto rows = it->next({.rows = 4}))
      for (size_t i = 0; i < rows->rows; ++i)
        parts[origin_of(rows->origins, i).split] = rows->columns[0].values<int64_t>()[i];
    EXPECT_EQ(splits.log.back().total, 50u);
  }
  EXPECT_EQ(parts, whole);
}

TEST(GlobalShuffle, OfTfrecordsIndexesThemOnce) {
  test::scratch_folder folder;
  std::vector<std::string> files;
  for (const auto& from : digit_files())
    files.push_back(folder.write(std::filesystem::path{from}.filename(), test::read_file(from)));
  const auto source = make_tfrecord(string_constant(files)).value();
  const auto all = read_all(source);
  const auto got = read_all(shuffled(source));
  EXPECT_NE(got, all);
  EXPECT_EQ(sorted(got), sorted(all));
  const auto index = folder.path() + "/.digits-00000-of-00004.tfrecord.index";
  ASSERT_TRUE(std::filesystem::exists(index));
  const auto written = std::filesystem::last_write_time(index);
  EXPECT_EQ(read_all(shuffled(source), always(7)), got);
  EXPECT_EQ(std::filesystem::last_write_time(index), written);
  // An index that is damaged, or that belongs to a file which has changed, is built anew.
  folder.write(".digits-00000-of-00004.tfrecord.index", "not an index at all");
  EXPECT_EQ(read_all(shuffled(source)), got);
  folder.write("digits-00000-of-00004.tfrecord", test::read_file(files[1]));
  EXPECT_EQ(sorted(read_all(shuffled(source))), sorted(read_all(source)));
}

TEST(GlobalShuffle, OfRecordsOfFixedLengthNeedsNoIndex) {
  test::scratch_folder folder;
  const std::vector<std::string> files{folder.write("a", "--aabbcc."),
                                       folder.write("b", "--ddee.")};
  const auto source = make_fixed_length(string_constant(files), {2, 2, 1}).value();
  EXPECT_THAT(read_all(shuffled(source), always(2)),
              testing::UnorderedElementsAre("'aa'", "'bb'", "'cc'", "'dd'", "'ee'"));
}

TEST(GlobalShuffle, ResumesInTheSameOrder) {
  const auto graph = make_repeat(shuffled(range(0, 30)), 2).value();
  const auto whole = read_numbers(graph);
  for (size_t rows : {0, 13, 30, 31, 60}) {
    iterator_context context;
    auto first = make_iterator(graph, context).value();
    read_all(*first, always(4), rows);
    auto second = make_iterator(graph, context).value();
    ASSERT_EQ(second->restore(*first->save()), status{});
    EXPECT_EQ(read_all(*second).size(), 60 - rows);
  }
  iterator_context context;
  auto first = make_iterator(graph, context).value();
  read_all(*first, always(4), 13);
  auto second = make_iterator(graph, context).value();
  ASSERT_EQ(second->restore(*first->save()), status{});
  EXPECT_EQ(read_all(*second, always(1), 1), std::vector<std::string>{std::to_string(whole[13])});
}

TEST(GlobalShuffle, GivesADamagedRecordAsAFailedRow) {
  test::scratch_folder folder;
  auto bytes = test::read_file(digit_files()[0]);
  bytes[bytes.size() - 10] ^= 1;
  const std::vector<std::string> files{folder.write("x.tfrecord", bytes)};
  const auto source = make_tfrecord(string_constant(files)).value();
  const auto got = read_all(shuffled(source));
  EXPECT_EQ(got.size(), read_all(source).size());
  EXPECT_EQ(
    std::ranges::count_if(got, [](const auto& row) { return row.starts_with("!data_loss"); }), 1);
}

TEST(GlobalShuffle, OfAFileThatIsNoneOrTruncatedSaysSo) {
  const std::vector<std::string> none{"/nowhere/x.tfrecord"};
  iterator_context context;
  const auto missing =
    make_iterator(shuffled(make_tfrecord(string_constant(none)).value()), context);
  EXPECT_EQ(missing.status().code(), status_code::not_found);
  test::scratch_folder folder;
  const auto bytes = test::read_file(digit_files()[0]);
  const std::vector<std::string> cut{folder.write("x", bytes.substr(0, bytes.size() - 1))};
  const auto truncated =
    make_iterator(shuffled(make_tfrecord(string_constant(cut)).value()), context);
  EXPECT_THAT(truncated.status().message(), HasSubstr("ends in the middle of the data"));
}

TEST(GlobalShuffle, RefusesWhatCannotBeReadInAnyOrder) {
  EXPECT_EQ(
    to_string(make_global_shuffle(make_batch(range(0, 9), 2).value()).status()),
    "invalid_argument: global_shuffle: the rows of batch cannot be read in any order; put it "
    "right after a range, from_tensors, from_tensor_slices, or uncompressed tfrecord or "
    "fixed_length");
  EXPECT_THAT(make_global_shuffle(
                make_tfrecord(string_constant(digit_files()), file_compression::gzip).value())
                .status()
                .message(),
              HasSubstr("the rows of compressed tfrecord"));
}

} // namespace
} // namespace headrace::detail
