#include "headrace/client/headrace.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <thread>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class StaticSharding : public testing::Test {
protected:
  using enum sharding_policy;

  /// A dispatcher's list of `n` workers, each on this host at any port.
  static std::vector<std::string> list_of(size_t n) {
    return std::vector<std::string>(n, "localhost");
  }

  static dataset shared(const dataset& what, const local_cluster& cluster, sharding_policy mode,
                        duration worker_timeout = 30s) {
    return what.apply(distribute{
      {.processing_mode = mode, .service = cluster.target(), .worker_timeout = worker_timeout}});
  }

  static std::vector<int64_t> values(const dataset& from) {
    std::vector<int64_t> out;
    for (const element& x : from) out.push_back(x[0].scalar<int64_t>());
    std::ranges::sort(out);
    return out;
  }
  static std::vector<std::string> texts(const dataset& from) {
    std::vector<std::string> out;
    for (const element& x : from) out.emplace_back(x[0].string());
    std::ranges::sort(out);
    return out;
  }
  static std::string why(const dataset& from) {
    try {
      for (const element& x : from) static_cast<void>(x);
    } catch (const error& x) {
      return x.what();
    }
    return "no error";
  }
  static std::vector<int64_t> numbers(int64_t n) {
    std::vector<int64_t> out(static_cast<size_t>(n));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }

  std::string files(int n) {
    for (int i = 0; i < n; ++i) {
      folder.write(fmt::format("{}.txt", i), fmt::format("{0}a\n{0}b\n", i));
      lines.push_back(fmt::format("{}a", i));
      lines.push_back(fmt::format("{}b", i));
    }
    return folder.path() + "/*.txt";
  }

  test::scratch_folder folder;
  std::vector<std::string> lines;
};

TEST_F(StaticSharding, DataGivesEachElementOnce) {
  local_cluster cluster{{.workers = 3, .worker_addresses = list_of(3)}};
  const auto squares = dataset::range(1'000).shuffle(100).map([](expr x) { return x * 1; });
  EXPECT_EQ(values(shared(squares, cluster, data)), numbers(1'000));
}

TEST_F(StaticSharding, DataGivesEachElementOnceThoughParallelCallsNeedKeepNoOrder) {
  local_cluster cluster{{.workers = 3, .worker_addresses = list_of(3)}};
  const auto mixed = dataset::range(5'000)
                       .map([](expr x) { return x; }, {.calls = 4, .deterministic = false})
                       .prefetch(4);
  EXPECT_EQ(values(shared(mixed, cluster, data)), numbers(5'000));
}

TEST_F(StaticSharding, HintGivesEachWorkerItsPartWhereTheGraphSaysSo) {
  local_cluster cluster{{.workers = 2, .worker_addresses = list_of(2)}};
  const auto hinted = dataset::range(10).shard(shard_hint, 0).batch(5);
  std::vector<std::vector<int64_t>> got;
  for (const element& x : shared(hinted, cluster, hint)) {
    const auto row = x[0].as<int64_t>();
    got.emplace_back(row.begin(), row.end());
  }
  EXPECT_THAT(got, testing::UnorderedElementsAre(testing::ElementsAre(0, 2, 4, 6, 8),
                                                 testing::ElementsAre(1, 3, 5, 7, 9)));
}

TEST_F(StaticSharding, FileGivesEachFileToOneWorker) {
  local_cluster cluster{{.workers = 2, .worker_addresses = list_of(2)}};
  const auto pattern = files(5);
  const auto read = dataset::list_files({pattern}).interleave(
    [](expr name) { return dataset::text_lines(name); }, {.cycle_length = 2});
  EXPECT_EQ(texts(shared(read, cluster, file)), lines);
  EXPECT_EQ(texts(shared(read, cluster, file_or_data)), lines);
}

TEST_F(StaticSharding, SaysWhichFileAWorkerDoesNotFindThatAnotherFound) {
  dispatcher_server dispatcher{{.worker_addresses = list_of(2)}};
  worker_server first{{.dispatcher = dispatcher.target()}};
  const auto pattern = files(4);
  const auto read =
    dataset::list_files({pattern}).flat_map([](expr name) { return dataset::text_lines(name); });
  auto it =
    read.apply(distribute{{.processing_mode = file, .service = dispatcher.target()}}).iterate();
  ASSERT_TRUE(it.next().value());
  ASSERT_TRUE(std::filesystem::remove(folder.path() + "/1.txt"));
  worker_server second{{.dispatcher = dispatcher.target()}};
  status how;
  while (how.ok()) {
    const auto next = it.next();
    ASSERT_TRUE(!next || next->has_value()) << "it ended well";
    how = next.status();
  }
  EXPECT_THAT(how.message(), testing::AllOf(HasSubstr("finds other files for source 0"),
                                            HasSubstr("4 there, 3 here"), HasSubstr("1.txt")));
}

TEST_F(StaticSharding, FileWantsAsManyFilesAsWorkersAndFileOrDataDoesNot) {
  local_cluster cluster{{.workers = 2, .worker_addresses = list_of(2)}};
  const auto pattern = files(1);
  const auto read =
    dataset::list_files({pattern}).flat_map([](expr name) { return dataset::text_lines(name); });
  EXPECT_THAT(why(shared(read, cluster, file)), HasSubstr("there is 1 file for 2 workers"));
  EXPECT_EQ(texts(shared(read, cluster, file_or_data)), lines);
  EXPECT_EQ(values(shared(dataset::range(7), cluster, file_or_data)), numbers(7));
}

TEST_F(StaticSharding, SaysWhyFilesCannotBeCounted) {
  local_cluster cluster{{.workers = 2, .worker_addresses = list_of(2)}};
  const auto read = dataset::list_files({folder.path() + "/none*"}).flat_map([](expr name) {
    return dataset::text_lines(name);
  });
  for (auto mode : {file, file_or_data})
    EXPECT_THAT(why(shared(read, cluster, mode)),
                HasSubstr("cannot count the files: list_files: no file matches"));
}

TEST_F(StaticSharding, SaysWhatIsMissing) {
  local_cluster none{{.workers = 1}};
  EXPECT_THAT(why(shared(dataset::range(3), none, data)),
              HasSubstr("start it with worker_addresses"));
  local_cluster cluster{{.workers = 1, .worker_addresses = list_of(1)}};
  EXPECT_THAT(why(shared(dataset::range(3), cluster, file)),
              HasSubstr("range is no source over files"));
  EXPECT_THAT(why(shared(dataset::range(3), cluster, hint)), HasSubstr("SHARD_HINT"));
  const auto hinted = dataset::range(3).shard(shard_hint, 0);
  for (auto mode : {off, dynamic, data})
    EXPECT_THAT(why(shared(hinted, cluster, mode)), HasSubstr("SHARD_HINT"));
  EXPECT_THAT(why(hinted), HasSubstr("SHARD_HINT"));
}

TEST_F(StaticSharding, EndsNotWellWithoutAWorkerThatDoesNotCome) {
  local_cluster cluster{{.workers = 1, .worker_addresses = {"localhost", "elsewhere:5000"}}};
  EXPECT_THAT(why(shared(dataset::range(10), cluster, data, 1s)),
              HasSubstr("no worker has come for 1 s for elsewhere:5000"));
}

TEST_F(StaticSharding, WaitsForAWorkerThatComesLater) {
  local_cluster cluster{{.workers = 1, .worker_addresses = list_of(2)}};
  auto it = shared(dataset::range(10), cluster, data).iterate();
  std::vector<int64_t> got;
  while (const auto x = it.next().value()) {
    got.push_back((*x)[0].scalar<int64_t>());
    if (got.size() == 5)
      cluster.add_worker();
  }
  std::ranges::sort(got);
  EXPECT_EQ(got, numbers(10));
}

TEST_F(StaticSharding, ReadsTheShardOfAWorkerThatIsReplacedFromItsBeginning) {
  local_cluster cluster{{.workers = 2, .worker_addresses = list_of(2)}};
  constexpr int64_t total = 200'000;
  auto it = shared(dataset::range(total), cluster, data).iterate();
  std::set<int64_t> got;
  size_t rows = 0;
  bool replaced = false;
  while (auto some = it.next_block()) {
    ASSERT_TRUE(some->errors.empty()) << to_string(some->errors[0].why);
    for (auto x : some->columns[0].values<int64_t>().subspan(
           static_cast<size_t>(some->columns[0].first_value(0)), some->rows))
      got.insert(x);
    rows += some->rows;
    if (!std::exchange(replaced, true)) {
      cluster.stop_worker(0);
      cluster.add_worker();
    }
  }
  EXPECT_EQ(got.size(), static_cast<size_t>(total)) << "nothing is missing";
  EXPECT_LE(rows, static_cast<size_t>(total + total / 2)) << "one shard came twice at most";
}

TEST_F(StaticSharding, IsSharedByTrainersOfOneJob) {
  local_cluster cluster{{.workers = 2, .worker_addresses = list_of(2)}};
  const distribute job{
    {.processing_mode = data, .service = cluster.target(), .job_name = "together"}};
  std::vector<int64_t> others;
  std::thread other{[&] { others = values(dataset::range(2'000).apply(job)); }};
  auto got = values(dataset::range(2'000).apply(job));
  other.join();
  got.insert(got.end(), others.begin(), others.end());
  std::ranges::sort(got);
  EXPECT_EQ(got, numbers(2'000));
}

TEST_F(StaticSharding, RefusesAListThatIsNone) {
  EXPECT_THROW((local_cluster{{.workers = 0, .worker_addresses = {"host:0"}}}), error);
}

} // namespace
} // namespace headrace::detail
