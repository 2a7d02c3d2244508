#include "tests/pipeline/sources/source_rows.hpp"
#include "tests/support/paths.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace headrace::detail {
namespace {

using test::always;
using test::pack;
using test::read_all;
using test::read_file;
using test::scratch_folder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines_of(std::vector<std::string> files,
                                  file_compression how = file_compression::none,
                                  size_t rows = 1000) {
  return read_all(make_text_lines(test::files(std::move(files)), how).value(), always(rows));
}

std::vector<std::string> records_of(std::vector<std::string> files,
                                    file_compression how = file_compression::none,
                                    size_t rows = 1000) {
  return read_all(make_tfrecord(test::files(std::move(files)), how).value(), always(rows));
}

std::string digits(const std::string& name) { return test::data_path("digits/") + name; }

TEST(TextLines, AreSplitAtNewlinesAndLoseTheirReturns) {
  scratch_folder folder;
  auto a = folder.write("a", "one\r\ntwo\n\nfour");
  auto b = folder.write("b", "five\n");
  for (size_t rows : {1, 2, 100})
    EXPECT_THAT(lines_of({a, b}, file_compression::none, rows),
                ElementsAre("'one'", "'two'", "''", "'four'", "'five'"));
  EXPECT_THAT(lines_of({folder.write("empty", "")}), ElementsAre());
}

TEST(TextLines, LongerThanAnyWindowComeWhole) {
  scratch_folder folder;
  const std::string a(3'000'000, 'a'), b(100'000, 'b');
  auto file = folder.write("long", a + "\n" + b + "\n" + a);
  EXPECT_THAT(lines_of({file}), ElementsAre("'" + a + "'", "'" + b + "'", "'" + a + "'"));
}

TEST(TextLines, AreUnpacked) {
  scratch_folder folder;
  std::string text;
  std::vector<std::string> want;
  for (int i = 0; i < 50000; ++i) {
    text += fmt::format("line {}\n", i);
    want.push_back(fmt::format("'line {}'", i));
  }
  EXPECT_EQ(lines_of({folder.write("gz", pack(text, 31))}, file_compression::gzip), want);
  EXPECT_EQ(lines_of({folder.write("zlib", pack(text, 15))}, file_compression::zlib), want);
  const auto half = text.find("line 25000\n");
  EXPECT_EQ(
    lines_of({folder.write("two", pack(text.substr(0, half), 31) + pack(text.substr(half), 31))},
             file_compression::gzip),
    want)
    << "several members";
}

TEST(TextLines, OfAMissingFileAreAnErrorThatNamesIt) {
  EXPECT_THAT(lines_of({"/nowhere/x.txt"}),
              ElementsAre("!not_found: text_lines: cannot open '/nowhere/x.txt': No such file or "
                          "directory"));
}

TEST(TextLines, OfDamagedOrCutArchivesGiveWhatIsWholeAndAnErrorWithTheOffset) {
  scratch_folder folder;
  auto packed = pack("one\ntwo\n", 31);
  auto cut = folder.write("cut", packed.substr(0, packed.size() - 3));
  EXPECT_THAT(lines_of({cut}, file_compression::gzip).back(),
              AllOf(HasSubstr("data_loss"), HasSubstr(cut), HasSubstr("offset")));
  packed[packed.size() - 6] ^= 1; // in the checksum
  auto bad = folder.write("bad", packed);
  EXPECT_THAT(lines_of({bad}, file_compression::gzip).back(),
              AllOf(HasSubstr("data_loss"), HasSubstr(bad)));
  EXPECT_THAT(lines_of({folder.write("text", "no archive at all")}, file_compression::gzip).back(),
              HasSubstr("data_loss"));
}

TEST(TFRecord, ThatTensorFlowWroteIsReadRight) {
  std::vector<std::string> shards;
  for (int i = 0; i < 4; ++i)
    shards.push_back(digits(fmt::format("digits-0000{}-of-00004.tfrecord", i)));
  auto records = records_of(shards);
  EXPECT_EQ(records.size(), 1797u);
  for (const auto& r : records) ASSERT_NE(r[0], '!') << r;
  EXPECT_EQ(records, records_of(shards, file_compression::none, 7));
}

TEST(TFRecord, IsTheSameInEachCompression) {
  auto gzip = records_of({digits("digits-gzip.tfrecord")}, file_compression::gzip);
  EXPECT_EQ(gzip.size(), 100u);
  EXPECT_EQ(gzip, records_of({digits("digits-zlib.tfrecord")}, file_compression::zlib, 3));
  auto shard = records_of({digits("digits-00000-of-00004.tfrecord")});
  EXPECT_EQ(gzip[0], shard[0]);
  EXPECT_EQ(gzip[4], shard[1]);
}

TEST(TFRecord, DamagedGivesTheRecordsBeforeAndAnErrorWithNameAndOffset) {
  scratch_folder folder;
  const auto whole = read_file(digits("digits-00000-of-00004.tfrecord"));
  const auto first = 16 + static_cast<size_t>(static_cast<uint8_t>(whole[0]));
  auto damaged = whole;
  damaged[first + 20] ^= 4; // in the second record's data
  auto bad = folder.write("bad", damaged);
  auto rows = records_of({bad});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1], fmt::format("!data_loss: tfrecord: '{}': the data of the record at offset {} "
                                 "does not match its checksum",
                                 bad, first));
  damaged = whole;
  damaged[first + 3] ^= 4; // in the second record's length
  EXPECT_THAT(records_of({folder.write("length", damaged)}).back(),
              HasSubstr(fmt::format("the length of the record at offset {}", first)));
}

TEST(TFRecord, CutAnywhereIsAnErrorUnlessBetweenRecords) {
  scratch_folder folder;
  const auto whole = read_file(digits("digits-00000-of-00004.tfrecord"));
  const auto first = 16 + static_cast<size_t>(static_cast<uint8_t>(whole[0]));
  for (size_t size = 0; size <= first * 2; ++size) {
    auto rows = records_of({folder.write("cut", whole.substr(0, size))});
    const bool between = size == 0 || size == first;
    ASSERT_EQ(rows.empty() || rows.back()[0] != '!', between || size == first * 2) << size;
    if (!rows.empty() && rows.back()[0] == '!') {
      ASSERT_THAT(rows.back(), AllOf(HasSubstr("data_loss"), HasSubstr("ends in the middle"),
                                     HasSubstr(size < first ? "offset 0" : "offset ")));
    }
  }
}

TEST(TFRecord, MissingIsAnErrorThatNamesIt) {
  EXPECT_THAT(records_of({"/nowhere/x"}).back(),
              AllOf(HasSubstr("not_found"), HasSubstr("/nowhere/x")));
  EXPECT_THAT(records_of({"/"}).back(), HasSubstr("Is a directory"));
}

TEST(ListFiles, AreSortedAndThereForEachPatternThatTheyMatch) {
  scratch_folder folder;
  auto b = folder.write("b.txt", ""), a = folder.write("a.txt", ""), c = folder.write("c.dat", "");
  auto files = make_list_files(test::files({folder.path() + "/*.txt", folder.path() + "/no*",
                                            folder.path() + "/*"}))
                 .value();
  EXPECT_THAT(read_all(files, always(2)), ElementsAre("'" + a + "'", "'" + a + "'", "'" + b + "'",
                                                      "'" + b + "'", "'" + c + "'"));
}

TEST(ListFiles, AlsoThoseWhoseNamesBeginWithAPoint) {
  scratch_folder folder;
  std::filesystem::create_directory(folder.path() + "/.in");
  const auto a = folder.write(".a", ""), b = folder.write("b", ""), c = folder.write(".in/.c", "");
  const auto list = [&](const std::string& pattern) {
    return read_all(make_list_files(test::files({folder.path() + pattern})).value());
  };
  EXPECT_THAT(list("/*"), ElementsAre("'" + a + "'", "'" + folder.path() + "/.in'", "'" + b + "'"));
  EXPECT_THAT(list("/?a"), ElementsAre("'" + a + "'"));
  // Patterns match neither `.` nor `..`.
  EXPECT_THAT(list("/*/*"), ElementsAre("'" + c + "'"));
  EXPECT_THAT(list("/./.*"),
              ElementsAre("'" + folder.path() + "/./.a'", "'" + folder.path() + "/./.in'"));
}

TEST(ListFiles, WithoutAMatchIsAnErrorThatNamesThePattern) {
  scratch_folder folder;
  auto files = make_list_files(test::files({folder.path() + "/*.txt", folder.path() + "/*.dat"}));
  EXPECT_THAT(read_all(*files),
              ElementsAre("!invalid_argument: list_files: no file matches '" + folder.path()
                          + "/*.txt' or '" + folder.path() + "/*.dat'"));
}

TEST(ListFiles, AreShuffledBySeedAnewInEachPass) {
  scratch_folder folder;
  for (int i = 0; i < 20; ++i) folder.write(fmt::format("f{:02}", i), "");
  auto files = make_list_files(test::files({folder.path() + "/*"}), true, 5).value();
  auto twice = read_all(make_repeat(files, 2).value());
  ASSERT_EQ(twice.size(), 40u);
  std::vector a(twice.begin(), twice.begin() + 20), b(twice.begin() + 20, twice.end());
  EXPECT_NE(a, b);
  EXPECT_EQ(a, read_all(files, always(3)));
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  EXPECT_EQ(a, b);
}

TEST(Files, AreTheSplits) {
  scratch_folder folder;
  std::vector<std::string> files;
  for (int i = 0; i < 3; ++i)
    files.push_back(folder.write(std::to_string(i), fmt::format("{0}a\n{0}b\n", i)));
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{2, 1}}, {0, 0, split_range{0, 1}}};
  iterator_context context;
  context.splits = &splits;
  auto from = make_iterator(make_text_lines(test::files(files)).value(), context).value();
  auto rows = from->next({.rows = 10});
  ASSERT_TRUE(rows);
  EXPECT_THAT(test::origins_of(*rows), ElementsAre("0/0/2", "0/0/2"));
  EXPECT_EQ(splits.log[0].total, 3u);
  EXPECT_THAT(read_all(*from), ElementsAre("'0a'", "'0b'"));
}

} // namespace
} // namespace headrace::detail
