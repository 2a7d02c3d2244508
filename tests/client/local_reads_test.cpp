#include "headrace/client/headrace.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/node/node.hpp"
#include "tests/support/patience.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A service with two workers: `here` serves this process without a socket, and `apart` is reached
/// through a socket, as if it ran in another process.
class LocalReads : public testing::Test {
protected:
  void serve(dispatcher_server_options options = {}, std::vector<std::string> tags = {}) {
    dispatcher.emplace(std::move(options));
    worker_server_options about;
    about.dispatcher = dispatcher->target();
    about.find_function = find;
    apart.emplace(about);
    about.serves_own_process = true;
    about.tags = std::move(tags);
    here.emplace(about);
    ASSERT_TRUE(await_service_workers(dispatcher->target(), 2, test::patience).ok());
  }
  dataset over(const dataset& what, sharding_policy mode, target_workers targets,
               const std::string& job = {}) const {
    return what.apply(distribute{{.processing_mode = mode,
                                  .service = dispatcher->target(),
                                  .job_name = job,
                                  .worker_timeout = 500ms,
                                  .target_workers = targets}});
  }
  static std::vector<int64_t> values(const dataset& from) {
    std::vector<int64_t> out;
    for (const element& x : from) out.push_back(x[0].scalar<int64_t>());
    std::ranges::sort(out);
    return out;
  }
  static std::vector<int64_t> numbers(int64_t n, int64_t step = 1, int64_t first = 0) {
    std::vector<int64_t> out;
    for (auto i = first; i < n; i += step) out.push_back(i);
    return out;
  }
  static error why(const dataset& from) {
    try {
      for (const element& x : from) static_cast<void>(x);
    } catch (const error& x) {
      return x;
    }
    return error{status{}};
  }
  static uint64_t connected() {
    return node::process(service_node(node_role::consumer))
      .value()
      ->links()
      .metrics()
      .count(link_metric::connected);
  }

  std::shared_ptr<node> kept = node::process(service_node(node_role::consumer))
                                 .value(); // its metrics count the links that this process opens
  function_finder find;
  std::optional<dispatcher_server> dispatcher;
  std::optional<worker_server> apart, here;
};

TEST_F(LocalReads, LocalUnderDynamicGivesEachElementOnceAndNoneOverASocket) {
  serve();
  EXPECT_EQ(values(over(dataset::range(10'000), sharding_policy::dynamic, target_workers::local)),
            numbers(10'000));
  EXPECT_EQ(
    values(over(dataset::range(5'000), sharding_policy::dynamic, target_workers::local, "named")),
    numbers(5'000));
  EXPECT_EQ(connected(), 0u);
}

TEST_F(LocalReads, LocalUnderOffGivesTheCopyOfTheOwnWorkerAlone) {
  serve();
  EXPECT_EQ(values(over(dataset::range(100), sharding_policy::off, target_workers::local)),
            numbers(100));
  EXPECT_EQ(connected(), 0u);
}

TEST_F(LocalReads, AnyAndAutoReadFromAll) {
  serve();
  for (auto targets : {target_workers::any, target_workers::automatic})
    EXPECT_EQ(values(over(dataset::range(100), sharding_policy::off, targets)).size(), 200u);
  EXPECT_EQ(connected(), 1u) << "the link to the other one is shared";
}

TEST_F(LocalReads, AutoUnderAStaticPolicyIsLocalWhereWorkersAreColocated) {
  serve({.worker_addresses = {"localhost", "localhost"}, .deployment = deployment_mode::colocated});
  const auto got =
    values(over(dataset::range(100), sharding_policy::data, target_workers::automatic));
  EXPECT_THAT(got, testing::AnyOf(numbers(100, 2, 0), numbers(100, 2, 1)));
  EXPECT_EQ(connected(), 0u);
  EXPECT_EQ(values(over(dataset::range(100), sharding_policy::data, target_workers::any)),
            numbers(100));
  EXPECT_EQ(
    values(over(dataset::range(100), sharding_policy::off, target_workers::automatic)).size(),
    200u);
}

TEST_F(LocalReads, AutoUnderAStaticPolicyReadsFromAllElsewhere) {
  serve({.worker_addresses = {"localhost", "localhost"}, .deployment = deployment_mode::hybrid});
  EXPECT_EQ(values(over(dataset::range(100), sharding_policy::data, target_workers::automatic)),
            numbers(100));
}

TEST_F(LocalReads, WithoutAWorkerInTheProcessLocalIsAnErrorAtOnce) {
  serve();
  here.reset();
  const auto how = why(over(dataset::range(10), sharding_policy::off, target_workers::local));
  EXPECT_EQ(how.why().code(), status_code::failed_precondition);
  EXPECT_THAT(how.what(), HasSubstr("target_workers is LOCAL"));
  EXPECT_THAT(how.what(), HasSubstr("no worker of this process is registered at the dispatcher"));
}

TEST_F(LocalReads, WithAWorkerOfAnotherDispatcherAloneLocalIsAnErrorAfterTheTimeOut) {
  serve();
  here.reset();
  dispatcher_server other;
  worker_server elsewhere{{.dispatcher = other.target(), .serves_own_process = true}};
  const auto how = why(over(dataset::range(10), sharding_policy::off, target_workers::local));
  EXPECT_EQ(how.why().code(), status_code::failed_precondition);
  EXPECT_THAT(how.what(), HasSubstr("no worker of this process is registered at the dispatcher"));
}

TEST_F(LocalReads, AColocatedWorkerThatWouldServeNobodyIsRefused) {
  try {
    worker_server nobodys{{.dispatcher = "127.0.0.1:1", .tags = {"COLOCATED"}}};
    FAIL() << "it was started";
  } catch (const error& x) {
    EXPECT_EQ(x.why().code(), status_code::invalid_argument);
    EXPECT_THAT(x.what(), HasSubstr("COLOCATED"));
  }
}

TEST_F(LocalReads, ClientsOfOneJobMustAskForTheSameTargets) {
  serve();
  auto first =
    over(dataset::range(1'000), sharding_policy::dynamic, target_workers::local, "named").iterate();
  static_cast<void>(first.next());
  const auto how =
    why(over(dataset::range(1'000), sharding_policy::dynamic, target_workers::any, "named"));
  EXPECT_EQ(how.why().code(), status_code::invalid_argument);
  EXPECT_THAT(how.what(), HasSubstr("target workers"));
}

TEST_F(LocalReads, GiveTheMemoryThatTheWorkerWroteAsTheLinkCompressesNothing) {
  std::mutex mutex;
  std::set<const void*> made;
  find = [&](const function_reference&) -> named_function {
    return [&](const block& rows) -> result<block> {
      mutable_buffer values{rows.rows * 100'000 * sizeof(int64_t)};
      std::ranges::fill(values.as<int64_t>(), 7);
      auto kept = std::move(values).freeze();
      block out{.columns = {}, .rows = rows.rows};
      std::lock_guard lock{mutex};
      for (size_t i = 0; i < rows.rows; ++i) made.insert(kept.as<int64_t>().data() + i * 100'000);
      out.columns.push_back(
        column::dense(dtype::int64, shape{100'000}, rows.rows, std::move(kept)));
      return out;
    };
  };
  serve();
  const auto rows =
    dataset::range(20).map(named_call{"vectors", tensor_spec{dtype::int64, shape{100'000}}});
  auto read = rows.apply(distribute{{.processing_mode = sharding_policy::dynamic,
                                     .service = dispatcher->target(),
                                     .compression = compression::snappy,
                                     .target_workers = target_workers::local}});
  size_t came = 0;
  for (const element& x : read) {
    ++came;
    std::lock_guard lock{mutex};
    EXPECT_TRUE(made.contains(x[0].as<int64_t>().data())) << "it was copied on its way";
  }
  EXPECT_EQ(came, 20u);
  const auto here = node::process(service_node(node_role::consumer)).value();
  EXPECT_EQ(here->metrics()->count(link_metric::bytes_in), 0u);
  EXPECT_EQ(here->metrics()->count(link_metric::connected), 0u);
}

} // namespace
} // namespace headrace::detail
