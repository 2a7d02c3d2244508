#include "tests/cluster/relayed_worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// How often each number of a range came.
class counts {
public:
  explicit counts(size_t total) : times_(total) {}
  void add(const block& rows) {
    failed_ += rows.errors.size();
    rows_ += rows.rows;
    const auto& column = rows.columns.at(0);
    for (auto x :
         column.values<int64_t>().subspan(static_cast<size_t>(column.first_value(0)), rows.rows))
      ++times_.at(static_cast<size_t>(x));
  }
  size_t rows() const noexcept { return rows_; }
  size_t failed() const noexcept { return failed_; }
  /// Numbers that did not come exactly so often.
  size_t unlike(uint8_t times) const {
    return static_cast<size_t>(
      std::count_if(times_.begin(), times_.end(), [times](uint8_t x) { return x != times; }));
  }

private:
  std::vector<uint8_t> times_;
  size_t rows_ = 0;
  size_t failed_ = 0;
};

class Cut : public testing::TestWithParam<sharding_policy> {};

TEST_P(Cut, ADataConnectionCutInMidFrameInEitherDirectionLosesAndRepeatsNothing) {
  constexpr size_t cuts_of_each = 4; // for each worker and direction
  const bool off = GetParam() == sharding_policy::off;
  const size_t total = off ? 10'000'000 : 20'000'000;
  auto dispatcher = start_dispatcher();
  relayed_worker workers[2]{relayed_worker{dispatcher.address}, relayed_worker{dispatcher.address}};
  await_workers(dispatcher.address, 2);
  auto it = dataset::range(static_cast<int64_t>(total))
              .apply(distribute{{.processing_mode = GetParam(), .service = dispatcher.address}})
              .iterate();
  counts seen{total};
  const auto read = [&] {
    auto rows = it.next_block();
    if (rows)
      seen.add(*rows);
    return rows.has_value();
  };
  ASSERT_TRUE(read());
  for (auto& worker : workers) ASSERT_TRUE(worker.network->await_connections(1, patience));
  // Frames of these streams are multiples of 8 bytes long, so an odd number is inside one: of a
  // block that comes (beyond the greeting), or of a grant that goes.
  for (size_t i = 0; i < cuts_of_each; ++i)
    for (auto direction : {relay::direction::back, relay::direction::forward})
      for (size_t which : {0, 1}) {
        auto& network = *workers[which].network;
        auto& other = *workers[1 - which].network;
        const auto cuts = network.cuts();
        const auto connections = network.connections();
        // Otherwise the other worker might do the rest meanwhile.
        other.hold(true);
        network.cut_inside(direction, direction == relay::direction::back ? 10'000 + 1'000 * i : 1);
        while (network.cuts() == cuts) ASSERT_TRUE(read()) << "the end came before the cut";
        ASSERT_TRUE(network.await_connections(connections + 1, patience));
        other.hold(false);
      }
  while (read()) {
  }
  EXPECT_EQ(seen.unlike(off ? 2 : 1), 0u);
  EXPECT_EQ(seen.rows(), off ? 2 * total : total);
  EXPECT_EQ(seen.failed(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Modes, Cut,
                         testing::Values(sharding_policy::off, sharding_policy::dynamic),
                         [](const auto& of) {
                           return of.param == sharding_policy::off ? "Off" : "Dynamic";
                         });

TEST(CutAtOnce, AConnectionCutWhileItIsGreetedIsMadeAgain) {
  auto dispatcher = start_dispatcher();
  relayed_worker worker{dispatcher.address};
  await_workers(dispatcher.address, 1);
  // The greeting is 128 bytes; what follows is cut off with it, or is not there yet.
  for (uint64_t bytes : {1, 64, 127, 128, 128, 128, 128, 128, 128, 128, 129, 200}) {
    const auto cuts = worker.network->cuts();
    // Each iteration makes its connection, as the one before cut it off or let it go.
    worker.network->cut_after(relay::direction::back, bytes);
    int64_t sum = 0;
    const auto read = dataset::range(1000).apply(distribute{{.service = dispatcher.address}});
    for (const element& x : read) sum += x[0].scalar<int64_t>();
    ASSERT_EQ(sum, 499'500) << bytes << " bytes";
    EXPECT_EQ(worker.network->cuts(), cuts + 1) << bytes << " bytes";
  }
}

TEST(CutAtOnce, AWorkerThatCannotBeReachedIsNamed) {
  const relay nowhere; // refuses: it forwards to nothing
  const auto advertised = "127.0.0.1:" + std::to_string(nowhere.port());
  auto dispatcher = start_dispatcher();
  auto worker = start_worker(dispatcher.address, {"--advertise-data", advertised});
  await_workers(dispatcher.address, 1);
  auto it = dataset::range(10)
              .apply(distribute{{.service = dispatcher.address, .worker_timeout = 1s}})
              .iterate();
  const auto why = it.next().status();
  EXPECT_EQ(why.code(), status_code::unavailable);
  EXPECT_THAT(why.message(), AllOf(HasSubstr(advertised), HasSubstr("--advertise-data")));
}

TEST(SilentLink, WhereOneDirectionIsSwallowedIsOpenedAgainAndNothingIsLostOrRepeated) {
  constexpr size_t total = 10'000'000;
  auto dispatcher = start_dispatcher();
  relayed_worker workers[2]{relayed_worker{dispatcher.address}, relayed_worker{dispatcher.address}};
  await_workers(dispatcher.address, 2);
  auto it =
    dataset::range(total)
      .apply(distribute{{.processing_mode = sharding_policy::off, .service = dispatcher.address}})
      .iterate();
  counts seen{total};
  const auto read = [&] {
    auto rows = it.next_block();
    if (rows)
      seen.add(*rows);
    return rows.has_value();
  };
  ASSERT_TRUE(read());
  for (auto& worker : workers) ASSERT_TRUE(worker.network->await_connections(1, patience));
  // For one worker the trainer's grants are lost, for the other the elements. No connection ends by
  // it, and none that there is would ever work again.
  workers[0].network->swallow(relay::direction::forward);
  workers[1].network->swallow(relay::direction::back);
  for (auto& worker : workers)
    while (worker.network->connections() < 2)
      ASSERT_TRUE(read()) << "the end came before the link was given up";
  while (read()) {
  }
  EXPECT_EQ(seen.unlike(2), 0u);
  EXPECT_EQ(seen.rows(), 2 * total);
  EXPECT_EQ(seen.failed(), 0u);
}

} // namespace
} // namespace headrace::test
