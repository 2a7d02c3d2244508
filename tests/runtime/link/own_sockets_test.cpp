#include "tests/runtime/link/raw_peer.hpp"
#include "tests/runtime/link/two_nodes.hpp"

#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headrace::detail {
namespace {

using test::raw_peer;
using test::two_nodes;
using ::testing::HasSubstr;
using ::testing::Not;

/// The number of sockets of this process that listen on the port, or are connected from or to it.
/// Without `names` the function calls only functions that a forked child may call.
int sockets_at(uint16_t port, std::string* names = nullptr) {
  int count = 0;
  for (int fd = 0; fd < 4096; ++fd) {
    sockaddr_in at[2] = {};
    socklen_t size = sizeof(at[0]);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&at[0]), &size);
    size = sizeof(at[1]);
    ::getpeername(fd, reinterpret_cast<sockaddr*>(&at[1]), &size);
    if (at[0].sin_port != htons(port) && at[1].sin_port != htons(port))
      continue;
    ++count;
    struct stat about {};
    if (names != nullptr && ::fstat(fd, &about) == 0)
      *names += "socket:[" + std::to_string(about.st_ino) + "]\n";
  }
  return count;
}

TEST(OwnSockets, AreNotThoseOfAProgramThatIsStarted) {
  two_nodes n;
  std::string names;
  ASSERT_EQ(sockets_at(n.there.port, &names), 3); // one listens, two are the link's ends
  auto* list = ::popen("ls -l /proc/self/fd", "r");
  ASSERT_NE(list, nullptr);
  std::string seen;
  char bytes[1024];
  for (size_t k; (k = std::fread(bytes, 1, sizeof(bytes), list)) != 0;) seen.append(bytes, k);
  ::pclose(list);
  EXPECT_THAT(seen, HasSubstr(" -> "));
  for (size_t at = 0, end; (end = names.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_THAT(seen, Not(HasSubstr(names.substr(at, end - at))));
}

/// A forked child, which lives until the object is destroyed.
class forked_child {
public:
  explicit forked_child(uint16_t port) {
    int to_parent[2], to_child[2];
    if (::pipe(to_parent) != 0 || ::pipe(to_child) != 0)
      throw std::runtime_error{"no pipe"};
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(to_child[1]);
      const char count = static_cast<char>(sockets_at(port));
      [[maybe_unused]] auto n = ::write(to_parent[1], &count, 1);
      char ignored = 0;
      n = ::read(to_child[0], &ignored, 1); // until the parent closes its end, or dies
      ::_exit(0);
    }
    ::close(to_child[0]);
    ::close(to_parent[1]);
    char count = -1;
    [[maybe_unused]] auto n = ::read(to_parent[0], &count, 1);
    sockets = count;
    ::close(to_parent[0]);
    hold_ = to_child[1];
  }
  ~forked_child() {
    ::close(hold_);
    ::waitpid(pid_, nullptr, 0);
  }
  int sockets = -1; ///< the number of sockets at the port that the child had

private:
  pid_t pid_ = -1;
  int hold_ = -1;
};

TEST(OwnSockets, AreNotThoseOfAForkedChild) {
  two_nodes n;
  const forked_child child{n.there.port};
  EXPECT_EQ(child.sockets, 0);
  EXPECT_EQ(sockets_at(n.there.port), 3) << "of the parent itself";
  // The link's peer notices the end at once, although the child still lives.
  n.near.link->close(cancelled("enough"));
  EXPECT_THAT(n.far.closed().message(), HasSubstr("closed the connection"));
}

TEST(OwnSockets, OfWhichANumberWasUsedAgainAreLeftAloneInAForkedChild) {
  { two_nodes n; }
  // These sockets get the descriptor numbers of the closed ones.
  test::raw_listener others;
  std::vector<raw_peer> peers;
  for (int i = 0; i < 4; ++i) peers.emplace_back(others.port());
  const auto before = sockets_at(others.port());
  const forked_child child{others.port()};
  EXPECT_EQ(child.sockets, before);
}

} // namespace
} // namespace headrace::detail
