#include "headrace/runtime/process/exit_code.hpp"
#include "tests/client/support/command.hpp"
#include "tests/client/support/outcomes.hpp"
#include "tests/runtime/tls/certificates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> with(std::vector<std::string> arguments, const tls_options& tls) {
  arguments.insert(arguments.end(),
                   {"--tls-cert", tls.certificate, "--tls-key", tls.key, "--tls-ca", tls.ca_file});
  return arguments;
}

/// A cluster that listens on every address, with TLS.
class Tls : public testing::Test {
protected:
  dataset numbers() const {
    return dataset::range(1'000).apply(distribute{{.processing_mode = sharding_policy::dynamic,
                                                   .service = cluster_.address,
                                                   .worker_timeout = std::chrono::seconds{2}}});
  }
  status read_in_vain() const {
    status first;
    const auto thrown = thrown_by([&] { first = numbers().iterate().next().status(); });
    return thrown.ok() ? first : thrown;
  }
  static std::string text(const tensor_view& x) { return std::to_string(x.scalar<int64_t>()); }

  certificate_authority ours_{"ours"}, theirs_{"theirs"};
  started cluster_{
    with({"up", "--workers", "2", "--port", "0", "--host", "0.0.0.0", "--advertise", "127.0.0.1"},
         ours_.issue("cluster"))};
};

TEST_F(Tls, AProgramWithACertificateReadsElements) {
  const secure_session session{ours_.issue("trainer")};
  EXPECT_EQ(outcomes(numbers(), text).size(), 1'000u);
}

TEST_F(Tls, AProgramReadsEachServiceInASessionOfItsOwn) {
  const started other{with({"up", "--workers", "1", "--port", "0"}, theirs_.issue("cluster"))};
  const started plain{{"up", "--workers", "1", "--port", "0"}};
  const session here{ours_.issue("trainer")}, there{theirs_.issue("trainer")};
  const auto read = [](const dataset& from, const std::string& service, const session& in) {
    return from.apply(distribute{{.processing_mode = sharding_policy::dynamic,
                                  .service = service,
                                  .worker_timeout = std::chrono::seconds{2},
                                  .session = in}});
  };
  const auto numbers = dataset::range(100);
  const auto both =
    dataset::zip({read(numbers, cluster_.address, here), read(numbers, other.address, there),
                  read(numbers, plain.address, {})});
  EXPECT_EQ(outcomes(both.map([](expr x, expr, expr) { return x; }), text).size(), 100u);

  const auto wrong =
    thrown_by([&] { read(numbers, other.address, here).iterate().next().value(); });
  EXPECT_THAT(wrong.message(), HasSubstr(other.address));
  EXPECT_EQ(get_service_status(other.address, std::chrono::seconds{5}, there)->workers.size(), 1u);
  EXPECT_FALSE(get_service_status(other.address, std::chrono::seconds{5}, here));
  const auto id = register_dataset(other.address, numbers, register_options{.session = there});
  EXPECT_EQ(
    outcomes(from_dataset_id({.service = other.address, .session = there}, id), text).size(), 100u);
  EXPECT_EQ(registered_dataset(other.address, id, there)->cardinality(), 100);
}

TEST_F(Tls, AWorkerReadsOtherServicesWithItsOwnCertificate) {
  const started dispatcher{with({"dispatcher", "--port", "0"}, ours_.issue("dispatcher"))};
  const started worker{with({"worker", "--dispatcher", dispatcher.address}, ours_.issue("worker"))};
  const secure_session session{ours_.issue("trainer")};
  const auto twice = numbers()
                       .map([](expr x) { return x + 1; })
                       .apply(distribute{{.processing_mode = sharding_policy::dynamic,
                                          .service = dispatcher.address}});
  EXPECT_EQ(outcomes(twice, text).size(), 1'000u);
}

TEST_F(Tls, AProgramWithoutOneGetsNothingAndIsToldWhatMayBeMissing) {
  const auto why = read_in_vain();
  EXPECT_FALSE(why.ok());
  EXPECT_THAT(why.message(), AllOf(HasSubstr(cluster_.address), HasSubstr("TLS")));
}

TEST_F(Tls, AProgramWithAnotherAuthoritysGetsNothing) {
  const secure_session session{theirs_.issue("trainer")};
  const auto why = read_in_vain();
  EXPECT_FALSE(why.ok());
  EXPECT_THAT(why.message(), HasSubstr(cluster_.address));
}

TEST_F(Tls, StatusNeedsTheCertificate) {
  const std::vector<std::string> ask{"status", "--json",       "--timeout",
                                     "2s",     "--dispatcher", cluster_.address};
  const auto fine = run_command(with(ask, ours_.issue("status")));
  EXPECT_EQ(fine.code, exit_code::ok) << fine.text;
  EXPECT_THAT(fine.text, HasSubstr("127.0.0.1:"));
  const auto none = run_command(ask);
  EXPECT_EQ(none.code, exit_code::cannot_connect);
  EXPECT_THAT(none.text, AllOf(HasSubstr(cluster_.address), HasSubstr("TLS")));
  const auto foreign = run_command(with(ask, theirs_.issue("status")));
  EXPECT_EQ(foreign.code, exit_code::cannot_connect) << foreign.text;
  EXPECT_THAT(foreign.text, HasSubstr(cluster_.address));
}

TEST_F(Tls, OneOfThreeFilesIsTooFewEverywhere) {
  for (const char* command : {"status", "up", "worker", "dispatcher"}) {
    const auto said = run_command({command, "--tls-cert", ours_.issue("half").certificate});
    EXPECT_NE(said.code, exit_code::ok);
    EXPECT_THAT(said.text, HasSubstr("key")) << command;
  }
}

TEST_F(Tls, AProgramSpeaksOneWayAtATime) {
  const auto mine = ours_.issue("trainer");
  {
    local_cluster plain{{.workers = 0}};
    const auto why = thrown_by([&] { secure_session late{mine}; });
    EXPECT_EQ(why.code(), status_code::failed_precondition);
    EXPECT_THAT(why.message(), AllOf(HasSubstr("without TLS"), HasSubstr(mine.certificate)));
  }
  const secure_session session{mine};
  EXPECT_EQ(thrown_by([] { local_cluster{{.workers = 0}}; }).code(),
            status_code::failed_precondition);
  local_cluster secure{{.workers = 1, .endpoint = {.tls = mine}}};
  EXPECT_EQ(
    outcomes(dataset::range(10).apply(distribute{{.service = secure.target()}}), text).size(), 10u);
}

} // namespace
} // namespace headrace::detail::test
