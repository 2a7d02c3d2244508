#include "headrace/pipeline/storage/saved_writer.hpp"

#include "headrace/pipeline/storage/saved_reader.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace headrace::detail {
namespace {

namespace fs = std::filesystem;

const element_spec one_number{tensor_spec{dtype::int64, {}}};

block copies_of(int64_t x, size_t rows) {
  const std::vector<int64_t> values(rows, x);
  block out;
  out.rows = rows;
  out.columns.push_back(column::of_scalars(std::span<const int64_t>{values}));
  return out;
}

class SavedWriter : public testing::Test {
protected:
  std::unique_ptr<saved_writer> writer(saved_writer::options how = {}) const {
    return saved_writer::open(path, one_number, how).value();
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator{path}, {}));
  }
  std::vector<int64_t> numbers() const {
    auto from = saved_reader::open(path, one_number).value();
    std::vector<int64_t> out;
    for (size_t i = 0; i < from.blocks(); ++i) {
      const auto rows = from.read(i).value();
      for (auto x : rows.columns[0].values<int64_t>()) out.push_back(x);
    }
    return out;
  }

  test::scratch_folder folder;
  std::string path = folder.path() + "/saved";
};

TEST_F(SavedWriter, OfSeveralAtTheSameTimeExactlyOneStays) {
  for (int round = 0; round < 10; ++round) {
    constexpr int writers = 4;
    std::atomic<int> ready = 0;
    std::vector<uint64_t> ids(writers);
    std::vector<std::thread> threads;
    for (int i = 0; i < writers; ++i)
      threads.emplace_back([&, i] {
        const auto to = writer();
        const auto written = to->write(copies_of(i, 100));
        for (++ready; ready.load() < writers;) std::this_thread::yield();
        if (const auto done = to->finish(); written.ok() && done)
          ids[static_cast<size_t>(i)] = done->id;
      });
    for (auto& one : threads) one.join();
    // Each writer returns the saved dataset that exists, whichever of them wrote it.
    const auto there = read_saved(path).value();
    ASSERT_THAT(ids, testing::Each(there.id));
    ASSERT_EQ(files(), 2u);
    const auto got = numbers();
    ASSERT_EQ(got.size(), 100u);
    ASSERT_THAT(got, testing::Each(got[0]));
    fs::remove_all(path);
  }
}

TEST_F(SavedWriter, AFileThatIsLargeEnoughIsFollowedByAnother) {
  const auto to = writer({.most_file_bytes = 1});
  for (int64_t i = 0; i < 5; ++i) ASSERT_TRUE(to->write(copies_of(i, 100'000)).ok());
  const auto done = to->finish().value();
  EXPECT_EQ(done.shards.size(), done.blocks());
  EXPECT_GT(done.shards.size(), 3u);
  for (const auto& shard : done.shards) {
    EXPECT_EQ(shard.blocks.size(), 1u);
    EXPECT_EQ(fs::file_size(path + "/" + shard.file), shard.bytes);
  }
  EXPECT_EQ(files(), done.shards.size() + 1);
  const auto got = numbers();
  ASSERT_EQ(got.size(), 500'000u);
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<int64_t>(i / 100'000));
}

TEST_F(SavedWriter, FilesThatWereCutGoWithOneThatIsNotFinished) {
  {
    const auto to = writer({.most_file_bytes = 1});
    for (int64_t i = 0; i < 3; ++i) ASSERT_TRUE(to->write(copies_of(i, 100'000)).ok());
    EXPECT_GT(files(), 2u);
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(SavedWriter, AFolderThatWorkersWriteIntoIsRefused) {
  fs::create_directories(path);
  std::ofstream{path + "/saving.headrace"} << "";
  for (const bool replace : {false, true})
    EXPECT_EQ(to_string(saved_writer::open(path, one_number, {.replace = replace}).status()),
              "already_exists: into '" + path
                + "' the workers of a service write, or have written; name another folder, or "
                  "remove that one");
  EXPECT_EQ(files(), 1u);
}

} // namespace
} // namespace headrace::detail
