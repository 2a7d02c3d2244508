#include "headrace/runtime/base/thread_waits.hpp"
#include "tests/pipeline/sources/source_rows.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

namespace headrace::detail {
namespace {

using test::files;
using test::pack;
using test::read_all;
using test::rows_of;
using test::scratch_folder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr record_layout layout{.record_bytes = 3, .header_bytes = 2, .footer_bytes = 1};

dataset_ptr records(std::vector<std::string> names, file_compression how = file_compression::none) {
  return make_fixed_length(files(std::move(names)), layout, how).value();
}

TEST(FixedLength, RecordsAreReadWithoutHeaderAndFooter) {
  scratch_folder folder;
  auto a = folder.write("a", "HHabcdefghiF"), b = folder.write("b", "HHF"),
       c = folder.write("c", "HHxyzF");
  EXPECT_THAT(rows_of(records({a, b, c})), ElementsAre("'abc'", "'def'", "'ghi'", "'xyz'"));
  for (const auto& [how, bits] :
       {std::pair{file_compression::gzip, 31}, std::pair{file_compression::zlib, 15}}) {
    auto packed = folder.write("packed", pack("HHabcdefghiF", bits));
    EXPECT_THAT(rows_of(records({packed, packed}, how)),
                ElementsAre("'abc'", "'def'", "'ghi'", "'abc'", "'def'", "'ghi'"));
  }
}

TEST(FixedLength, ManyRecordsComeInOrder) {
  scratch_folder folder;
  std::string bytes;
  std::vector<std::string> want;
  for (int i = 0; i < 100000; ++i) {
    bytes += fmt::format("{:06}", i);
    want.push_back(fmt::format("'{:06}'", i));
  }
  const record_layout plain{.record_bytes = 6};
  auto file = folder.write("many", bytes);
  EXPECT_EQ(rows_of(make_fixed_length(files({file}), plain).value()), want);
  auto packed = folder.write("packed", pack(bytes, 31));
  EXPECT_EQ(rows_of(make_fixed_length(files({packed}), plain, file_compression::gzip).value()),
            want);
}

TEST(FixedLength, AFileOfAnotherSizeIsAnErrorThatNamesItAfterTheFilesBefore) {
  scratch_folder folder;
  auto good = folder.write("good", "HHabcF"), bad = folder.write("bad", "HHabcdF"),
       tiny = folder.write("tiny", "HH");
  EXPECT_THAT(rows_of(records({good, bad, good})),
              ElementsAre("'abc'", AllOf(HasSubstr("!invalid_argument: fixed_length: '" + bad),
                                         HasSubstr("1 records of 3 bytes and 1 bytes more"))));
  EXPECT_THAT(rows_of(records({tiny})), ElementsAre(HasSubstr("header (2) and footer (1) alone")));
  for (auto [cut, rows] : {std::pair{"HHabcdF", 2}, std::pair{"HH", 1}, std::pair{"", 1}}) {
    auto packed = folder.write("packed", *cut ? pack(cut, 31) : "");
    auto got = rows_of(records({packed}, file_compression::gzip));
    ASSERT_EQ(got.size(), static_cast<size_t>(rows));
    EXPECT_THAT(got.back(), AnyOf(HasSubstr("data_loss"),
                                  HasSubstr("invalid_argument: fixed_length: '" + packed)));
  }
}

TEST(FixedLength, AMissingFileIsAnErrorThatNamesIt) {
  EXPECT_THAT(rows_of(records({"/nowhere/x"})),
              ElementsAre("!not_found: fixed_length: cannot open '/nowhere/x': No such file or "
                          "directory"));
  EXPECT_THAT(rows_of(records({"/nowhere/x"}, file_compression::gzip)),
              ElementsAre(HasSubstr("/nowhere/x")));
  EXPECT_THAT(rows_of(records({"/dev/null"})), ElementsAre(HasSubstr("is no regular file")));
}

TEST(FixedLength, AFileThatShrinksIsAnError) {
  scratch_folder folder;
  auto file = folder.write("file", "HHabcdefF");
  iterator_context context;
  auto from = make_iterator(records({file}), context).value();
  ASSERT_EQ(::truncate(file.c_str(), 4), 0);
  EXPECT_THAT(read_all(*from), ElementsAre(HasSubstr("ends at offset 4 now")));
}

TEST(FixedLength, ReadingIsAWaitForStorage) {
  scratch_folder folder;
  auto file = folder.write("file", "HHabcdefF");
  iterator_context context;
  auto from = make_iterator(records({file}), context).value();
  const own_waits waits;
  EXPECT_THAT(read_all(*from), ElementsAre("'abc'", "'def'"));
  EXPECT_GT(waits.so_far().storage_ns, 0u);
}

TEST(FixedLength, RecordsAreTheSplitsOfFilesThatAreNotCompressed) {
  scratch_folder folder;
  auto a = folder.write("a", "HHabcdefghiF"), b = folder.write("b", "HHuvwxyzF");
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{2, 2}}, {0, 0, split_range{0, 1}}};
  iterator_context context;
  context.splits = &splits;
  auto from = make_iterator(records({a, b}), context).value();
  auto rows = from->next({.rows = 10});
  ASSERT_TRUE(rows);
  EXPECT_THAT(test::origins_of(*rows), ElementsAre("0/0/2")); // a block does not span files
  EXPECT_EQ(splits.log[0].total, 5u);
  EXPECT_THAT(read_all(*from), ElementsAre("'uvw'", "'abc'"));
}

TEST(FixedLength, WrongLayoutsAreRefused) {
  const auto why = [](record_layout wrong) {
    return to_string(make_fixed_length(files({"x"}), wrong).status());
  };
  EXPECT_THAT(why({}), HasSubstr("fixed_length: record_bytes is 0; it must be at least 1"));
  EXPECT_THAT(why({1, -1, 0}), HasSubstr("header_bytes is -1"));
  EXPECT_THAT(why({1, 0, -1}), HasSubstr("footer_bytes is -1"));
  EXPECT_THAT(why({int64_t{1} << 40}), HasSubstr("it must be at most"));
}

} // namespace
} // namespace headrace::detail
