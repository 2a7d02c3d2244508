#include "headrace/runtime/base/address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace headrace;
using namespace headrace::detail;
using testing::HasSubstr;

namespace {

TEST(AddressTest, ReadsHostAndPort) {
  EXPECT_EQ(*parse_address("data.example.org:4000"), (address{"", "data.example.org", 4000}));
  EXPECT_EQ(*parse_address("headrace://127.0.0.1:1"), (address{"headrace", "127.0.0.1", 1}));
  EXPECT_EQ(*parse_address("grpc+x://h:65535"), (address{"grpc+x", "h", 65535}));
  EXPECT_EQ(*parse_address("[::1]:80"), (address{"", "::1", 80}));
  EXPECT_EQ(*parse_address("tcp://[fe80::1%eth0]:80"), (address{"tcp", "fe80::1%eth0", 80}));
}
TEST(AddressTest, WritesWhatItReads) {
  for (auto text : {"h:1", "x://h:1", "[::1]:80", "x://[::1]:80"})
    EXPECT_EQ(to_string(*parse_address(text)), text);
}
TEST(AddressTest, NamesWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
    {"", "the port is missing"},
    {"host", "the port is missing"},
    {"host:", "the port is missing"},
    {":80", "the host is missing"},
    {"h:0", "\"0\" is not a port"},
    {"h:65536", "\"65536\" is not a port"},
    {"h:80x", "\"80x\" is not a port"},
    {"h:-1", "\"-1\" is not a port"},
    {"::1:80", "goes into brackets"},
    {"[::1]", "the port is missing"},
    {"[::1:80", "never closed"},
    {"[1.2.3.4]:80", "not an IPv6 address"},
    {"://h:1", "scheme"},
    {"a b://h:1", "scheme"},
    {"h/path:1", "is not a host"},
    {"h o:1", "is not a host"},
  };
  for (auto [text, what] : cases) {
    auto got = parse_address(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.status().code(), status_code::invalid_argument);
    EXPECT_THAT(got.status().message(), HasSubstr(what)) << text;
    EXPECT_THAT(got.status().message(), HasSubstr("must be host:port"));
  }
}
TEST(AddressTest, RefusesAHostWithAZeroInside) {
  EXPECT_THAT(parse_address({"h\0x:1", 5}).status().message(), HasSubstr("is not a host"));
  for (const std::string_view text :
       {std::string_view{"[::1\0x]:1", 9}, std::string_view{"[fe80::1%e\0]:1", 14}})
    EXPECT_THAT(parse_address(text).status().message(), HasSubstr("not an IPv6 address"));
}
TEST(AddressTest, KnowsLoopbackAndWildcard) {
  for (auto host : {"127.0.0.1", "127.9.9.9", "::1", "localhost"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (auto host : {"10.0.0.1", "::", "", "example.org", "0.0.0.0"})
    EXPECT_FALSE(is_loopback(host)) << host;
  for (auto host : {"", "0.0.0.0", "::"}) EXPECT_TRUE(is_wildcard(host)) << host;
  EXPECT_FALSE(is_wildcard("127.0.0.1"));
}
TEST(AddressTest, TakesTheLeastPortThatItIsGiven) {
  EXPECT_EQ(*parse_address("h:0", 0), (address{"", "h", 0}));
  EXPECT_THAT(parse_address("h:-1", 0).status().message(), HasSubstr("(0 to 65535)"));
  EXPECT_THAT(parse_address("h:0").status().message(), HasSubstr("(1 to 65535)"));
}
TEST(AddressTest, ReachesAServerOfThisMachineByLoopback) {
  for (auto host : {"", "0.0.0.0"}) EXPECT_EQ(host_from_here(host), "127.0.0.1") << host;
  for (auto host : {"::", "0:0:0:0:0:0:0:0"}) EXPECT_EQ(host_from_here(host), "::1") << host;
  for (auto host : {"127.0.0.1", "10.0.0.1", "::1", "example.org"})
    EXPECT_EQ(host_from_here(host), host);
}

} // namespace
