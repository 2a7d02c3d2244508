#include "headrace/pipeline/files/tfrecord_writer.hpp"

#include "tests/pipeline/sources/source_rows.hpp"
#include "tests/support/paths.hpp"

#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <random>
#include <sys/resource.h>

namespace headrace::detail {
namespace {

using test::read_file;
using test::scratch_folder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> read(const std::string& path,
                              file_compression how = file_compression::none) {
  return test::read_all(make_tfrecord(test::files({path}), how).value());
}

size_t files_in(const scratch_folder& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator{folder.path()}, {}));
}

TEST(TFRecordWriter, WritesByteForByteWhatTensorFlowWrote) {
  scratch_folder folder;
  iterator_context context;
  const auto theirs = test::data_path("digits/digits-00000-of-00004.tfrecord");
  auto from = make_iterator(make_tfrecord(test::files({theirs})).value(), context).value();
  const auto ours = folder.path() + "/ours";
  auto writer = tfrecord_writer::open(ours).value();
  while (auto rows = from->next({.rows = 100}))
    for (size_t i = 0; i < rows->rows; ++i)
      ASSERT_TRUE(writer.write(rows->columns[0].string(i)).ok());
  ASSERT_TRUE(writer.finish().ok());
  EXPECT_EQ(read_file(ours), read_file(theirs));
  EXPECT_EQ(writer.bytes(), read_file(theirs).size());
}

TEST(TFRecordWriter, RecordsOfAnySizeComeBackInEachCompression) {
  scratch_folder folder;
  std::mt19937_64 random{11};
  for (const auto how : file_compressions) {
    const auto path = folder.path() + "/file" + std::string{to_string(how)};
    auto writer = tfrecord_writer::open(path, {.compression = how}).value();
    std::vector<std::string> want;
    for (size_t size : {0, 1, 1000, 3'000'000, 0, 65536, 7}) {
      std::string record(size, '\0');
      for (auto& c : record) c = static_cast<char>(random());
      ASSERT_TRUE(writer.write(record).ok());
      want.push_back("'" + record + "'");
    }
    ASSERT_TRUE(writer.finish().ok());
    EXPECT_EQ(writer.records(), want.size());
    EXPECT_TRUE(read(path, how) == want) << to_string(how);
  }
  const auto path = folder.path() + "/none";
  ASSERT_TRUE(
    tfrecord_writer::open(path, {.compression = file_compression::gzip}).value().finish().ok());
  EXPECT_THAT(read(path, file_compression::gzip), ElementsAre());
}

TEST(TFRecordWriter, AFileHasItsNameOnlyWhenItIsWhole) {
  scratch_folder folder;
  const auto path = folder.path() + "/file";
  folder.write("file", "before");
  {
    auto writer = tfrecord_writer::open(path).value();
    ASSERT_TRUE(writer.write(std::string(1 << 20, 'x')).ok());
    EXPECT_EQ(read_file(path), "before");
  }
  EXPECT_EQ(read_file(path), "before");
  EXPECT_EQ(files_in(folder), 1u) << "nothing is left of what was given up";
  auto writer = tfrecord_writer::open(path).value();
  auto other = tfrecord_writer::open(path).value();
  ASSERT_TRUE(writer.write("after").ok());
  ASSERT_TRUE(writer.finish().ok());
  EXPECT_THAT(read(path), ElementsAre("'after'"));
  EXPECT_THAT(to_string(writer.write("more")), HasSubstr("is finished already"));
}

TEST(TFRecordWriter, AFullDiskIsAnErrorThatNamesTheFileAndLeavesNothing) {
  // A limit on the size of files stands for a full disk: in both cases a write in the middle of the
  // file fails.
  scratch_folder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1'000'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto path = folder.path() + "/file";
  status why;
  {
    auto writer = tfrecord_writer::open(path).value();
    for (int i = 0; i < 100 && why.ok(); ++i) why = writer.write(std::string(100'000, 'x'));
    EXPECT_EQ(writer.finish(), why);
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(to_string(why), AllOf(HasSubstr("resource_exhausted: after 1000000 bytes: cannot "
                                              "write '"
                                              + path),
                                    HasSubstr("File too large")));
  EXPECT_EQ(files_in(folder), 0u);
}

TEST(TFRecordWriter, WrongOptionsAndFoldersAreRefused) {
  EXPECT_THAT(to_string(tfrecord_writer::open("/nowhere/x").status()),
              HasSubstr("not_found: cannot create '/nowhere/x'"));
  EXPECT_THAT(to_string(tfrecord_writer::open("x", {.compression_level = 12}).status()),
              HasSubstr("compression_level is 12"));
}

} // namespace
} // namespace headrace::detail
