#include "headrace/client/headrace.hpp"
#include "headrace/client/internal/service_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace headrace::detail {
namespace {

using testing::HasSubstr;

/// Sets HEADRACE_SERVICE for a test.
class NamedService : public testing::Test {
protected:
  ~NamedService() override { ::unsetenv("HEADRACE_SERVICE"); }
  static void name(const std::string& where) {
    ::setenv("HEADRACE_SERVICE", where.c_str(), /*overwrite=*/1);
  }
};

TEST_F(NamedService, IsTheOneThatIsGivenElseThatOfTheEnvironment) {
  name("far:7");
  EXPECT_EQ(service::named("near:8").value(), "near:8");
  EXPECT_EQ(service::named("").value(), "far:7");
  name("grpc://far:7");
  EXPECT_EQ(service::named("").value(), "grpc://far:7");
}

TEST_F(NamedService, WithoutEitherTheErrorNamesBothPlaces) {
  ::unsetenv("HEADRACE_SERVICE");
  for (const auto* where : {"", "nowhere"}) {
    if (*where != '\0')
      name(where);
    const auto none = service::named("", "distribute: service");
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.status().code(), status_code::invalid_argument);
    EXPECT_THAT(none.status().message(), HasSubstr("HEADRACE_SERVICE"));
  }
  name("");
  EXPECT_THAT(service::named("", "distribute: service").status().message(),
              HasSubstr("distribute: service: no address is given"));
}

TEST_F(NamedService, IsReadByDistributeByIdAndByWorkers) {
  local_cluster cluster;
  name(cluster.target());
  int64_t sum = 0;
  for (const element& x : dataset::range(10).apply(distribute({}))) sum += x[0].scalar<int64_t>();
  EXPECT_EQ(sum, 45);
  const auto id = register_dataset("", dataset::range(10));
  for (const element& x : from_dataset_id({}, id)) sum += x[0].scalar<int64_t>();
  EXPECT_EQ(sum, 90);
  worker_server more{{}};
  ASSERT_TRUE(await_service_workers("", 2, std::chrono::seconds{30}).ok());
  EXPECT_EQ(get_service_status("", std::chrono::seconds{30}).value().workers.size(), 2u);
}

TEST_F(NamedService, OptionsOfWorkersThatAreNoTimesAreRefused) {
  const auto said = [](const worker_server_options& options) -> std::string {
    try {
      worker_server{options};
    } catch (const error& e) {
      return e.why().message();
    }
    return {};
  };
  EXPECT_THAT(said({.dispatcher = "localhost:1", .heartbeat = duration::zero()}),
              HasSubstr("heartbeat must be longer than nothing"));
  EXPECT_THAT(said({.dispatcher = "localhost:1", .dispatcher_timeout = duration::zero()}),
              HasSubstr("dispatcher_timeout must be longer than nothing"));
}

} // namespace
} // namespace headrace::detail
