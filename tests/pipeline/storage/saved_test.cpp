#include "headrace/pipeline/storage/saved_reader.hpp"
#include "headrace/pipeline/storage/saved_writer.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headrace::detail {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

block numbers(int64_t first, size_t rows) {
  mutable_buffer values{rows * sizeof(int64_t)};
  for (size_t i = 0; i < rows; ++i) values.as<int64_t>()[i] = first + static_cast<int64_t>(i);
  return {{column::dense(dtype::int64, {}, rows, std::move(values).freeze())}, rows, {}, {}};
}
const element_spec number_spec{tensor_spec{dtype::int64, {}}};

class Saved : public testing::Test {
protected:
  std::unique_ptr<saved_writer> writer(saved_writer::options how = {}) {
    return saved_writer::open(path, number_spec, how).value();
  }
  void save(int64_t first, size_t rows, saved_writer::options how = {}) {
    auto to = writer(how);
    ASSERT_EQ(to->write(numbers(first, rows)), status{});
    ASSERT_TRUE(to->finish().ok());
  }
  std::string rows_file() const { return path + "/" + read_saved(path).value().shards[0].file; }
  std::string read_failure() const {
    auto from = saved_reader::open(path, number_spec);
    return from ? to_string(from->read(0).status()) : to_string(from.status());
  }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    if (fs::exists(path))
      for (const auto& one : fs::directory_iterator{path}) out.push_back(one.path().filename());
    return out;
  }

  test::scratch_folder folder;
  std::string path = folder.path() + "/saved";
};

TEST_F(Saved, BlocksComeBackInAnyOrderAndCompression) {
  for (auto how : {saved_compression::none, saved_compression::snappy, saved_compression::gzip}) {
    auto to = writer({how, true});
    for (int64_t i = 0; i < 40; ++i) ASSERT_EQ(to->write(numbers(i * 5000, 5000)), status{});
    EXPECT_EQ(to->rows(), 200000u);
    ASSERT_TRUE(to->finish().ok());
    auto from = saved_reader::open(path, number_spec).value();
    EXPECT_EQ(from.manifest().rows(), 200000u);
    ASSERT_GT(from.blocks(), 2u);
    auto end = int64_t{200000};
    for (auto i = from.blocks(); i-- != 0;) {
      const auto rows = from.read(i).value();
      EXPECT_EQ(rows.rows, from.rows_of(i));
      const auto values = rows.columns[0].values<int64_t>();
      EXPECT_EQ(values.back(), end - 1);
      end -= static_cast<int64_t>(rows.rows);
      EXPECT_EQ(values.front(), end);
    }
    EXPECT_EQ(end, 0);
  }
}

TEST_F(Saved, NothingIsThereUntilAllIsWritten) {
  {
    auto to = writer();
    ASSERT_EQ(to->write(numbers(0, 100000)), status{});
    EXPECT_THAT(to_string(read_saved(path).status()),
                HasSubstr("not_found: '" + path + "' holds no saved dataset"));
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(Saved, WhatWasThereIsReplacedInOneStep) {
  save(0, 10, {.replace = true});
  auto to = writer({.replace = true});
  ASSERT_EQ(to->write(numbers(7, 3)), status{});
  EXPECT_EQ(read_saved(path).value().rows(), 10u);
  ASSERT_TRUE(to->finish().ok());
  EXPECT_EQ(read_saved(path).value().rows(), 3u);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(Saved, OfTwoThatFillAFolderTheFirstStays) {
  auto a = writer(), b = writer();
  ASSERT_EQ(a->write(numbers(1, 1)), status{});
  ASSERT_EQ(b->write(numbers(2, 2)), status{});
  ASSERT_TRUE(b->finish().ok());
  EXPECT_EQ(a->finish().value().rows(), 2u);
  a.reset();
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(Saved, FilesOfAWriterThatWasKilledGoWithTheNextOne) {
  const auto child = ::fork();
  if (child == 0) {
    auto to = writer();
    (void)to->write(numbers(0, 200'000));
    std::raise(SIGKILL);
  }
  int how = 0;
  ASSERT_EQ(::waitpid(child, &how, 0), child);
  ASSERT_TRUE(WIFSIGNALED(how));
  ASSERT_EQ(files().size(), 2u); // the files of the killed writer: its rows, and `<number>.writing`
  const auto living = writer();
  ASSERT_EQ(living->write(numbers(0, 200'000)), status{});
  ASSERT_EQ(files().size(), 2u);
  save(5, 3);
  EXPECT_EQ(files().size(), 4u); // the files of the living writer are kept
  EXPECT_EQ(read_saved(path).value().rows(), 3u);
}

TEST_F(Saved, WhatAWriterFinishedBeforeItWasKilledStays) {
  save(0, 10);
  const auto saved = read_saved(path).value();
  std::ofstream{path + "/" + saved.shards[0].file.substr(0, 16) + ".writing"} << "";
  std::ofstream{path + "/what.writing"} << "of somebody else";
  writer();
  EXPECT_EQ(read_failure(), "ok");
  EXPECT_THAT(files(), testing::UnorderedElementsAre("dataset.headrace", saved.shards[0].file,
                                                     "what.writing"));
}

TEST_F(Saved, ADamagedRecordIsToldWithFileAndOffset) {
  save(0, 1000);
  auto bytes = test::read_file(rows_file());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  test::scratch_folder other;
  fs::copy_file(other.write("x", bytes), rows_file(), fs::copy_options::overwrite_existing);
  EXPECT_EQ(read_failure(),
            fmt::format("data_loss: '{}': the record at offset 0 does not match its "
                        "checksum",
                        rows_file()));
}

TEST_F(Saved, ATruncatedFileIsTold) {
  save(0, 1000);
  const auto size = fs::file_size(rows_file());
  fs::resize_file(rows_file(), size - 10);
  EXPECT_THAT(read_failure(), HasSubstr(fmt::format("'{}' has {} bytes; {} were written",
                                                    rows_file(), size - 10, size)));
  fs::remove(rows_file());
  EXPECT_THAT(read_failure(), HasSubstr("not_found"));
}

TEST_F(Saved, ADamagedManifestIsToldAndNeverCrashes) {
  save(0, 1000);
  const auto manifest = path + "/dataset.headrace";
  const auto whole = test::read_file(manifest);
  for (size_t i = 0; i < whole.size(); ++i) {
    auto bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x40);
    std::ofstream{manifest, std::ios::binary}.write(bytes.data(),
                                                    static_cast<std::streamsize>(bytes.size()));
    EXPECT_THAT(to_string(find_saved(path).status()), HasSubstr(manifest)) << "byte " << i;
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream{manifest, std::ios::binary}.write(whole.data(),
                                                    static_cast<std::streamsize>(size));
    EXPECT_THAT(to_string(find_saved(path).status()), HasSubstr(manifest)) << size << " bytes";
  }
}

TEST_F(Saved, APipeInThePlaceOfAFileIsRefusedAtOnce) {
  const auto pipe = path + "/dataset.headrace";
  std::filesystem::create_directories(path);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto found = find_saved(path);
  EXPECT_EQ(found.status().code(), status_code::failed_precondition);
  EXPECT_NE(found.status().message().find("it is a pipe or a device"), std::string::npos);
}

TEST_F(Saved, AnotherSpecIsRefused) {
  save(0, 10);
  EXPECT_EQ(to_string(saved_reader::open(path, tensor_spec{dtype::string, {}}).status()),
            "invalid_argument: '" + path + "' holds elements of int64[], expected were string[]");
}

TEST_F(Saved, AFullDiskLeavesNothingBehind) {
  // A limit on the size of files has the effect of a full disk.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto small = before;
  small.rlim_cur = 100000;
  auto to = writer();
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  status failed;
  for (int64_t i = 0; failed.ok() && i < 100; ++i) failed = to->write(numbers(i, 10000));
  if (failed.ok())
    failed = to->finish().status();
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(to_string(failed), HasSubstr("cannot write '" + path));
  EXPECT_FALSE(to->finish().ok());
  to.reset();
  EXPECT_TRUE(files().empty());
}

TEST_F(Saved, AFolderThatCannotBeMadeIsTold) {
  const auto file = folder.write("file", "x");
  EXPECT_THAT(to_string(saved_writer::open(file + "/x", number_spec, {}).status()),
              HasSubstr("cannot make the folder '" + file + "/x'"));
}

} // namespace
} // namespace headrace::detail
