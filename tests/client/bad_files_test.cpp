#include "tests/client/support/outcomes.hpp"
#include "tests/support/paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace headrace::detail::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr auto modes = {sharding_policy::off, sharding_policy::dynamic};

/// A folder for the damaged copies that a test makes of a shard of the digits data set.
class BadFiles : public testing::Test {
protected:
  BadFiles() {
    std::filesystem::create_directories(folder_);
    std::ifstream in{shard(0), std::ios::binary};
    bytes_.assign(std::istreambuf_iterator<char>{in}, {});
    first_ = 16 + static_cast<size_t>(static_cast<uint8_t>(bytes_.at(0)))
             + 256 * static_cast<size_t>(static_cast<uint8_t>(bytes_.at(1)));
  }
  ~BadFiles() override { std::filesystem::remove_all(folder_); }

  static std::string shard(int number) {
    return test::data_path("digits/digits-0000") + std::to_string(number) + "-of-00004.tfrecord";
  }
  std::string write(const std::string& name, const std::string& bytes) const {
    const auto path = folder_ + "/" + name;
    std::ofstream{path, std::ios::binary} << bytes;
    return path;
  }
  /// Reads all of `files` through a service of one worker, each as a dataset of its own. Error rows
  /// come last.
  std::vector<std::string> read(const std::vector<std::string>& files, sharding_policy mode) const {
    const auto each = dataset::from_tensor_slices({constant(files)}).interleave([](expr file) {
      return dataset::tfrecord(file);
    });
    auto out = read(each, mode);
    std::stable_partition(out.begin(), out.end(), [](const auto& x) { return x[0] != '!'; });
    return out;
  }
  std::vector<std::string> read(const dataset& what, sharding_policy mode) const {
    return outcomes(what.apply(distribute{{.processing_mode = mode, .service = cluster_.target()}}),
                    [](const tensor_view& x) { return std::string{x.string()}; });
  }

  const std::string folder_ =
    testing::TempDir() + "headrace_bad_files_" + std::to_string(::getpid());
  std::string bytes_; ///< the content of shard 0
  size_t first_ = 0;  ///< the length of the first record of shard 0, with its framing
  local_cluster cluster_{{.workers = 1}};
};

TEST_F(BadFiles, AMissingOneIsNamedAndTheOthersAreRead) {
  const auto missing = folder_ + "/missing.tfrecord";
  for (auto mode : modes) {
    const auto whole = read({shard(0), shard(1)}, mode);
    auto got = read({shard(0), missing, shard(1)}, mode);
    ASSERT_EQ(got.size(), whole.size() + 1);
    EXPECT_THAT(got.back(), AllOf(HasSubstr("not_found"), HasSubstr("'" + missing + "'"),
                                  HasSubstr("No such file")));
    got.pop_back();
    EXPECT_TRUE(std::is_permutation(got.begin(), got.end(), whole.begin(), whole.end()));
  }
}

TEST_F(BadFiles, ACorruptOneGivesWhatIsBeforeTheDamageAndItsNameAndOffset) {
  auto damaged = bytes_;
  damaged[first_ + 20] ^= 4; // in the second record's data
  const auto bad = write("bad.tfrecord", damaged);
  for (auto mode : modes) {
    const auto whole = read({shard(1)}, mode);
    const auto got = read({bad, shard(1)}, mode);
    ASSERT_EQ(got.size(), whole.size() + 2) << "one record, the error, and the other file";
    EXPECT_THAT(got.back(),
                AllOf(HasSubstr("data_loss"), HasSubstr("'" + bad + "'"),
                      HasSubstr("offset " + std::to_string(first_)), HasSubstr("checksum")));
  }
}

TEST_F(BadFiles, TheErrorIsTheLastElementOfASourceOfSeveral) {
  const auto missing = folder_ + "/missing.tfrecord";
  for (auto mode : modes) {
    const auto whole = read(dataset::tfrecord(std::vector{shard(0)}), mode);
    const auto got = read(dataset::tfrecord(std::vector{shard(0), missing, shard(1)}), mode);
    ASSERT_EQ(got.size(), whole.size() + 1);
    EXPECT_TRUE(std::equal(whole.begin(), whole.end(), got.begin()));
    EXPECT_THAT(got.back(), HasSubstr("'" + missing + "'"));
  }
}

TEST_F(BadFiles, ATruncatedOneGivesItsWholeRecordsAndItsNameAndOffset) {
  const auto cut = write("cut.tfrecord", bytes_.substr(0, first_ + 30));
  for (auto mode : modes) {
    const auto got = read({cut}, mode);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].size(), first_ - 16);
    EXPECT_THAT(got[1], AllOf(HasSubstr("data_loss"), HasSubstr("'" + cut + "'"),
                              HasSubstr("ends in the middle"),
                              HasSubstr("offset " + std::to_string(first_))));
  }
}

TEST_F(BadFiles, AnEmptyOneHasNoElements) {
  const auto empty = write("empty.tfrecord", "");
  for (auto mode : modes) EXPECT_TRUE(read({empty}, mode).empty());
}

TEST_F(BadFiles, AFolderAndAFileOfAnotherKindAreNamed) {
  const auto text = write("text.tfrecord", std::string(100, 'x'));
  for (auto mode : modes) {
    EXPECT_THAT(read({folder_}, mode), testing::ElementsAre(HasSubstr("'" + folder_ + "'")));
    EXPECT_THAT(read({text}, mode),
                testing::ElementsAre(AllOf(HasSubstr("'" + text + "'"), HasSubstr("offset 0"))));
  }
}

TEST_F(BadFiles, APatternThatMatchesNothingIsNamed) {
  const auto pattern = folder_ + "/*.nothing";
  for (auto mode : modes) {
    EXPECT_THAT(read(dataset::list_files({pattern}), mode),
                testing::ElementsAre(HasSubstr("no file matches '" + pattern + "'")));
  }
}

} // namespace
} // namespace headrace::detail::test
