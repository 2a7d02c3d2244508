#include "headrace/client/internal/save.hpp"
#include "headrace/headrace.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stop_token>
#include <system_error>
#include <thread>

namespace headrace::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int64_t> numbers_read(const dataset& from) {
  std::vector<int64_t> out;
  for (const auto& x : from) out.push_back(x[0].scalar<int64_t>());
  return out;
}

template <class F>
std::string failure(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "none";
}

TEST(SavedDataset, IsLoadedWithItsStructure) {
  test::scratch_folder folder;
  const auto path = folder.path() + "/a/b";
  const auto words = dataset::from_tensor_slices(
    named({{"n", constant(std::vector<int64_t>{1, 2, 3})},
           {"word", constant(std::vector<std::string>{"a", "bb", ""})}}));
  for (const auto how :
       {saved_compression::none, saved_compression::snappy, saved_compression::gzip}) {
    words.save(path, {how});
    const auto loaded = dataset::load(path);
    EXPECT_EQ(loaded.spec(), words.spec());
    EXPECT_EQ(loaded.cardinality(), 3);
    std::vector<std::string> texts;
    for (const auto& x : loaded) texts.push_back(to_string(x));
    EXPECT_THAT(texts,
                ElementsAre("{n: 1, word: \"a\"}", "{n: 2, word: \"bb\"}", "{n: 3, word: \"\"}"));
  }
}

TEST(SavedDataset, AStoppedSaveEndsAndSavesNothing) {
  test::scratch_folder folder;
  std::stop_source stop;
  const auto numbers = dataset::range(int64_t{1} << 40);
  std::string how;
  std::jthread saving{[&] {
    how = failure(
      [&] { save_elements(numbers, folder.path(), std::nullopt, {}, {.stop = stop.get_token()}); });
  }};
  const auto is_written = [&] {
    for (const auto& file : std::filesystem::recursive_directory_iterator{folder.path()})
      if (std::error_code gone; file.is_regular_file(gone) && file.file_size(gone) != 0 && !gone)
        return true;
    return false;
  };
  while (!is_written()) std::this_thread::yield();
  stop.request_stop();
  saving.join();
  EXPECT_THAT(how, HasSubstr("stopped"));
  EXPECT_THAT(failure([&] { dataset::load(folder.path()); }), HasSubstr(folder.path()));
}

TEST(SavedDataset, ShardsAreReadOneByOne) {
  test::scratch_folder folder;
  dataset::range(10).save(folder.path(), [](expr x) { return x % 3; });
  EXPECT_EQ(dataset::saved_shards(folder.path()), 3);
  EXPECT_THAT(numbers_read(dataset::load(folder.path())),
              ElementsAre(0, 3, 6, 9, 1, 4, 7, 2, 5, 8));
  EXPECT_THAT(numbers_read(dataset::load(folder.path(), int64_t{1})), ElementsAre(1, 4, 7));
  const auto shards = dataset::range(3).interleave(
    [&](expr n) { return dataset::load(folder.path(), n); }, {.cycle_length = 3});
  EXPECT_THAT(numbers_read(shards), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(failure([&] { numbers_read(dataset::load(folder.path(), int64_t{3})); }),
              HasSubstr("load: shard 3 of '" + folder.path() + "', which has 3"));
}

TEST(SavedDataset, AFailedElementLeavesWhatWasThere) {
  test::scratch_folder folder;
  dataset::range(3).save(folder.path());
  const auto bad = dataset::range(3).map([](expr x) { return 1 / x; });
  EXPECT_THAT(failure([&] { bad.save(folder.path()); }), HasSubstr("save: "));
  EXPECT_THAT(numbers_read(dataset::load(folder.path())), ElementsAre(0, 1, 2));
}

TEST(SavedDataset, ThatChangedSinceItWasLoadedIsRefused) {
  test::scratch_folder folder;
  dataset::range(3).save(folder.path());
  const auto loaded = dataset::load(folder.path());
  dataset::range(4).save(folder.path());
  EXPECT_THAT(failure([&] { numbers_read(loaded); }), HasSubstr("make it again"));
}

TEST(SavedDataset, ResumesAnywhere) {
  test::scratch_folder folder;
  dataset::range(200000).save(folder.path());
  const auto loaded = dataset::load(folder.path());
  for (size_t rows : {size_t{0}, size_t{1}, size_t{70000}, size_t{199999}}) {
    auto at = loaded.skip(0).iterate();
    for (size_t i = 0; i < rows; ++i) ASSERT_TRUE(at.next().value());
    auto rest = loaded.skip(0).restore(at.save().value());
    EXPECT_EQ(rest.next().value()->operator[](0).scalar<int64_t>(), static_cast<int64_t>(rows));
  }
}

TEST(SavedDataset, IsSharedByWorkers) {
  test::scratch_folder folder;
  dataset::range(300000).save(folder.path());
  local_cluster cluster{{.workers = 2}};
  auto read = numbers_read(dataset::load(folder.path())
                             .apply(distribute({.processing_mode = sharding_policy::dynamic,
                                                .service = cluster.target()})));
  std::sort(read.begin(), read.end());
  EXPECT_EQ(read, numbers_read(dataset::range(300000)));
}

TEST(SavedDataset, WrongArgumentsAreTold) {
  EXPECT_THAT(failure([] { dataset::range(3).save(""); }), HasSubstr("save: path is empty"));
  EXPECT_THAT(failure([] { dataset::counter().save("x"); }), HasSubstr("never ends"));
  EXPECT_THAT(failure([] { dataset::range(3).save("x", [](expr x) { return x == 1; }); }),
              HasSubstr("shard_func must give one int64 scalar"));
  EXPECT_THAT(failure([] { dataset::load("/nowhere/at/all"); }),
              HasSubstr("load: '/nowhere/at/all' holds no saved dataset"));
}

TEST(Cached, IterationsOfOneProgramShareElements) {
  const auto shuffled = dataset::range(50).shuffle(50).cache();
  EXPECT_EQ(numbers_read(shuffled), numbers_read(shuffled));
  EXPECT_EQ(numbers_read(shuffled.batch(1).unbatch()), numbers_read(shuffled));
}

} // namespace
} // namespace headrace::detail
