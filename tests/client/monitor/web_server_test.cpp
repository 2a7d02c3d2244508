#include "headrace/client/monitor/monitor_server.hpp"

#include "headrace/client/monitor/page.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headrace::detail::monitor {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

int connected(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where), 0);
  return fd;
}

std::string rest_of(int fd) {
  std::string out;
  char some[4096];
  for (ssize_t n = 0; (n = ::read(fd, some, sizeof some)) > 0;)
    out.append(some, static_cast<size_t>(n));
  ::close(fd);
  return out;
}

std::string ask(uint16_t port, const std::string& request) {
  const int fd = connected(port);
  EXPECT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  return rest_of(fd);
}

std::string get(const web_server& of, const std::string& path,
                const std::string& host = "127.0.0.1") {
  return ask(of.port(), fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", path, host));
}

std::unique_ptr<web_server> of_a_service() {
  return start_monitor({}, {.status =
                              [] {
                                service_status x;
                                x.jobs = {{.job = 1, .name = "</script><b>", .state = "running"}};
                                return result<service_status>{x};
                              },
                            .metrics = {},
                            .ready = {}})
    .value();
}

TEST(WebServer, ServesThePageTheStatusAndTheMetrics) {
  const auto web = of_a_service();
  EXPECT_THAT(get(*web, "/"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get(*web, "/"), HasSubstr("<title>headrace</title>"));
  EXPECT_THAT(get(*web, "/page.js?x=1"), HasSubstr("text/javascript"));
  EXPECT_THAT(get(*web, "/live"), HasSubstr("live\n"));
  EXPECT_THAT(get(*web, "/ready"), HasSubstr("ready\n"));
  EXPECT_THAT(get(*web, "/api/status.json"), HasSubstr("\"jobs\":[{"));
  EXPECT_THAT(get(*web, "/metrics"), HasSubstr("headrace_jobs{state=\"running\"} 1\n"));
  EXPECT_THAT(get(*web, "/metrics"), HasSubstr("application/openmetrics-text; version=1.0.0"));
  EXPECT_THAT(get(*web, "/etc/passwd"), StartsWith("HTTP/1.1 404"));
}

TEST(WebServer, SaysWhyAServiceIsNotReady) {
  const auto web = start_monitor({}, {.status = []() -> result<service_status> {
                                        return unavailable("the dispatcher does not answer");
                                      },
                                      .metrics = {},
                                      .ready = {}})
                     .value();
  EXPECT_THAT(get(*web, "/ready"), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(get(*web, "/ready"), HasSubstr("the dispatcher does not answer"));
  EXPECT_THAT(get(*web, "/live"), StartsWith("HTTP/1.1 200"));
}

TEST(WebServer, GivesAWorkersMetricsAndNoPage) {
  bool ready = false;
  const auto web =
    start_monitor({}, {.status = {},
                       .metrics = [] { return metric_families{}; },
                       .ready = [&] { return ready ? status{} : unavailable("not registered"); }})
      .value();
  EXPECT_THAT(get(*web, "/metrics"), HasSubstr("# EOF\n"));
  EXPECT_THAT(get(*web, "/ready"), HasSubstr("not registered"));
  ready = true;
  EXPECT_THAT(get(*web, "/ready"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get(*web, "/api/status.json"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get(*web, "/api/status.json"),
              HasSubstr("there are /, /metrics, /live and /ready\n"));
}

TEST(WebServer, RefusesOtherMethodsAndNames) {
  const auto web = of_a_service();
  EXPECT_THAT(ask(web->port(), "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(get(*web, "/api/status.json", "evil.example"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(get(*web, "/live", "localhost:5051"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get(*web, "/live", "[::1]:5051"), StartsWith("HTTP/1.1 200"));
  // Names of hosts are compared without regard to case, and without a trailing dot.
  EXPECT_THAT(get(*web, "/live", "LocalHost.:5051"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get(*web, "/live", "localhost.evil.example"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(get(*web, "/live", "localhost\r\nHost: evil.example"), StartsWith("HTTP/1.1 400"));
}

TEST(WebServer, BearsNonsense) {
  const auto web = of_a_service();
  ask(web->port(), "nonsense\r\n\r\n");
  ask(web->port(), std::string(100'000, 'a'));
  ask(web->port(), "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n\r\n");
  ask(web->port(), "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n");
  EXPECT_THAT(get(*web, "/live"), StartsWith("HTTP/1.1 200"));
}

TEST(WebServer, AnswersARequestWhileManyOthersSendNothing) {
  const auto web = of_a_service();
  std::vector<int> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(connected(web->port()));
  // The oldest connections are closed in favour of later ones.
  EXPECT_THAT(get(*web, "/live"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(rest_of(silent.front()), "");
  for (size_t i = 1; i < silent.size(); ++i) ::close(silent[i]);
}

TEST(WebServer, AnswersARequestWhileManyOthersSendAByteNowAndThen) {
  const auto web = of_a_service();
  for (int round = 0; round < 3; ++round) {
    std::vector<int> slow;
    for (int i = 0; i < 100; ++i) {
      slow.push_back(connected(web->port()));
      ASSERT_EQ(::send(slow.back(), "GET", 3, MSG_NOSIGNAL), 3);
    }
    EXPECT_THAT(get(*web, "/ready"), StartsWith("HTTP/1.1 200"));
    for (int fd : slow) ::close(fd);
  }
}

TEST(WebServer, TakesAnyFreePortWhereItsOwnIsTaken) {
  const auto one = of_a_service();
  const auto same = web_server::start({.port = one->port()}, [](auto) { return web_answer{}; });
  ASSERT_FALSE(same);
  EXPECT_EQ(same.status().code(), status_code::already_exists);
  EXPECT_THAT(same.status().message(), HasSubstr(std::to_string(one->port())));
  const auto other =
    web_server::start({.port = one->port(), .any_port = true}, [](auto) { return web_answer{}; });
  ASSERT_TRUE(other);
  EXPECT_NE((*other)->port(), one->port());
}

TEST(WebServer, NamesAHostThatIsNotOfThisMachine) {
  const auto none =
    web_server::start({.host = "192.0.2.1", .insecure = true}, [](auto) { return web_answer{}; });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.status().code(), status_code::invalid_argument);
  const auto unknown = web_server::start({.host = "no.such.host.invalid", .insecure = true},
                                         [](auto) { return web_answer{}; });
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.status().code(), status_code::invalid_argument);
}

TEST(WebServer, IsAddressedByTheNameOfItsHostIfItListensOnAll) {
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof(name) - 1), 0);
  const auto web = web_server::start({.host = "0.0.0.0", .insecure = true}, [](auto) {
                     return web_answer{};
                   }).value();
  EXPECT_EQ(web->url(), fmt::format("http://{}:{}/", name, web->port()));
  EXPECT_THAT(get(*web, "/", name), StartsWith("HTTP/1.1 200"));
}

TEST(WebServer, IsNotOpenToOthersWithoutTls) {
  const auto open = web_server::start({.host = "0.0.0.0"}, [](auto) { return web_answer{}; });
  ASSERT_FALSE(open);
  EXPECT_THAT(open.status().message(), HasSubstr("--insecure"));
}

TEST(ReportPage, IsOneFileInWhichNamesAreNoMarkup) {
  const auto page = report_page(R"({"jobs":[{"name":"</script><script>alert(1)</script>"}]})");
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("src=\"page.js\"")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"page.css\"")));
  EXPECT_THAT(page, HasSubstr("id=\"kept-status\""));
}

} // namespace
} // namespace headrace::detail::monitor
