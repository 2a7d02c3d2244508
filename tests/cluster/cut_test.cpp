#include "headrace/runtime/base/boot_id.hpp"
#include "headrace/runtime/link/frames/frame.hpp"
#include "headrace/runtime/link/frames/hello.hpp"
#include "tests/cluster/relayed_worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// Reads the numbers below `total` from two workers behind relays, and counts how often each number
/// came.
class cut_reading {
public:
  cut_reading(size_t total, sharding_policy mode) : times_(total) {
    await_workers(dispatcher_.address, 2);
    it_.emplace(dataset::range(static_cast<int64_t>(total))
                  .apply(distribute{{.processing_mode = mode, .service = dispatcher_.address}})
                  .iterate());
  }
  relay& network(size_t worker) { return *workers_[worker].network; }

  /// Reads the first block, and waits until both workers are connected. Returns false if no block
  /// came, or a worker was not connected in time.
  bool begin() {
    const bool came = read();
    for (auto& worker : workers_)
      if (!worker.network->await_connections(1, patience))
        return false;
    return came;
  }
  /// Reads the next block; false at the end.
  bool read() {
    const auto rows = it_->next_block();
    if (!rows)
      return false;
    failed_ += rows->errors.size();
    rows_ += rows->rows;
    const auto& column = rows->columns.at(0);
    for (auto x :
         column.values<int64_t>().subspan(static_cast<size_t>(column.first_value(0)), rows->rows))
      ++times_.at(static_cast<size_t>(x));
    return true;
  }
  /// Reads to the end and checks that each number came exactly this number of times.
  void expect_each(uint8_t times) {
    while (read()) {
    }
    EXPECT_EQ(std::ranges::count_if(times_, [times](uint8_t x) { return x != times; }), 0);
    EXPECT_EQ(rows_, times * times_.size());
    EXPECT_EQ(failed_, 0u);
  }

private:
  server_process dispatcher_ = start_dispatcher();
  relayed_worker workers_[2]{relayed_worker{dispatcher_.address},
                             relayed_worker{dispatcher_.address}};
  std::optional<dataset_iterator> it_;
  std::vector<uint8_t> times_;
  size_t rows_ = 0;
  size_t failed_ = 0;
};

class Cut : public testing::TestWithParam<sharding_policy> {};

TEST_P(Cut, ADataConnectionCutInMidFrameInEitherDirectionLosesAndRepeatsNothing) {
  constexpr size_t cuts_of_each = 4; // for each worker and direction
  const bool off = GetParam() == sharding_policy::off;
  cut_reading reading{off ? size_t{10'000'000} : size_t{20'000'000}, GetParam()};
  ASSERT_TRUE(reading.begin());
  // Frames of these streams are multiples of 8 bytes long, so a cut after an odd number of bytes is
  // inside a frame: in direction `back` a frame with a block for the consumer (after the greeting),
  // in direction `forward` a frame with a grant for the worker.
  for (size_t i = 0; i < cuts_of_each; ++i)
    for (auto direction : {relay::direction::back, relay::direction::forward})
      for (size_t which : {0, 1}) {
        auto& network = reading.network(which);
        auto& other = reading.network(1 - which);
        const auto cuts = network.cuts();
        const auto connections = network.connections();
        // The other worker is held, because it might give all remaining elements before the cut.
        other.hold(true);
        network.cut_inside(direction, direction == relay::direction::back ? 10'000 + 1'000 * i : 1);
        while (network.cuts() == cuts) ASSERT_TRUE(reading.read()) << "the end came before the cut";
        ASSERT_TRUE(network.await_connections(connections + 1, patience));
        other.hold(false);
      }
  reading.expect_each(off ? 2 : 1);
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
  const auto greeting =
    sizeof(frame_prefix)
    + encode(link_hello{.boot_id = boot_id(), .role = "worker", .ping_every = 1s}).size();
  // The cut at the end of the greeting is repeated, because the next frame may be sent before or
  // after the cut.
  for (uint64_t bytes : {uint64_t{1}, uint64_t{64}, greeting - 1, greeting, greeting, greeting,
                         greeting, greeting, greeting, greeting, greeting + 1, greeting + 72}) {
    const auto cuts = worker.network->cuts();
    // Each iteration makes a new connection, because the previous one was cut or closed.
    worker.network->cut_after(relay::direction::back, bytes);
    int64_t sum = 0;
    const auto read = dataset::range(1000).apply(distribute{{.service = dispatcher.address}});
    for (const element& x : read) sum += x[0].scalar<int64_t>();
    ASSERT_EQ(sum, 499'500) << bytes << " bytes";
    EXPECT_EQ(worker.network->cuts(), cuts + 1) << bytes << " bytes";
  }
}

TEST(CutAtOnce, AWorkerThatCannotBeReachedIsNamed) {
  const relay nowhere; // refuses connections, because it has no target
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
  cut_reading reading{10'000'000, sharding_policy::off};
  ASSERT_TRUE(reading.begin());
  // For one worker the trainer's grants are lost, for the other one the elements. No connection is
  // closed, but none of the existing ones works any more.
  reading.network(0).swallow(relay::direction::forward);
  reading.network(1).swallow(relay::direction::back);
  for (size_t which : {0, 1})
    while (reading.network(which).connections() < 2)
      ASSERT_TRUE(reading.read()) << "the end came before the link was given up";
  reading.expect_each(2);
}

} // namespace
} // namespace headrace::detail::test
