#include "headrace/runtime/link/link_service.hpp"
#include "tests/runtime/link/link_fixture.hpp"
#include "tests/runtime/link/raw_peer.hpp"

#include <future>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::hello_bytes;
using test::host;
using test::raw_listener;
using test::raw_peer;
using ::testing::HasSubstr;

TEST(LinkConnect, NamesTheAddressWhereNobodyListens) {
  uint16_t port = 0;
  {
    raw_listener gone;
    port = gone.port();
  }
  link_service here;
  auto made = test::connect(here, port);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::unavailable);
  EXPECT_THAT(made.status().message(), HasSubstr("127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(made.status().message(), HasSubstr("nobody listens"));
}

TEST(LinkConnect, NamesAHostThatDoesNotExist) {
  link_service here;
  auto made = test::connect(here, 1, "no.such.host.invalid");
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("no.such.host.invalid:1"));
}

TEST(LinkConnect, TellsWhenSomethingElseListens) {
  raw_listener http;
  link_service here;
  auto server = std::async(std::launch::async, [&] {
    auto peer = http.accept();
    peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.finish_sending();
    peer.read_all();
  });
  auto made = test::connect(here, http.port());
  server.wait();
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("HTTP/1.1 400"));
  EXPECT_THAT(made.status().message(), HasSubstr("something else"));
  EXPECT_THAT(made.status().message(), HasSubstr(std::to_string(http.port())));
}

TEST(LinkConnect, GivesUpOnASilentServer) {
  raw_listener silent; // the kernel accepts, no process answers
  link_service here{{.handshake_timeout = 100ms}};
  auto made = test::connect(here, silent.port());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::deadline_exceeded);
}

TEST(LinkConnect, GivesUpWhenNothingAnswersAtAll) {
  raw_listener busy{0};
  raw_peer first{busy.port()}; // fills the queue
  link_service here{{.connect_timeout = 100ms}};
  auto made = test::connect(here, busy.port());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::deadline_exceeded);
  EXPECT_THAT(made.status().message(), HasSubstr("127.0.0.1:" + std::to_string(busy.port())));
}

TEST(LinkConnect, TellsBothVersionsWhenTheyDiffer) {
  raw_listener newer;
  link_service here;
  auto server = std::async(std::launch::async, [&] {
    auto peer = newer.accept();
    peer.send(hello_bytes({.protocol_major = 2, .protocol_minor = 1}));
    peer.read_all();
  });
  auto made = test::connect(here, newer.port());
  server.wait();
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::failed_precondition);
  EXPECT_THAT(made.status().message(), HasSubstr("2.1"));
  EXPECT_THAT(made.status().message(), HasSubstr("1.1"));
}

TEST(LinkConnect, IsToldWhenItsServiceEndsFirst) {
  raw_listener silent;
  test::mailbox<status> ended;
  {
    link_service here;
    here.connect("127.0.0.1", silent.port(), [&](auto x) { ended.put(x.status()); });
  }
  EXPECT_EQ(ended.take().value().code(), status_code::cancelled);
}

TEST(LinkListen, NamesAPortInUse) {
  host there;
  link_service here;
  auto again = here.listen("127.0.0.1", there.port, {});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.status().code(), status_code::already_exists);
  EXPECT_THAT(again.status().message(), HasSubstr("127.0.0.1:" + std::to_string(there.port)));
}

TEST(LinkListen, RefusesAnAddressOfAnotherMachine) {
  link_service here;
  auto bound = here.listen("192.0.2.1", 0, {});
  ASSERT_FALSE(bound.ok());
  EXPECT_THAT(bound.status().message(), HasSubstr("192.0.2.1"));
}

} // namespace
} // namespace headrace::detail
