#include "headrace/runtime/node/probe.hpp"

#include <cerrno>
#include <climits>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace headrace::detail {
namespace {

/// The first bytes that a program which uses the framework sends on a connection that it has
/// accepted: a header (an operation, the size of the payload, and the version of the protocol: 3 in
/// release 0.17, 8 in release 1.1), and a payload with the program's names.
constexpr size_t greeting_header = 32;
constexpr unsigned char greeting_operation = 0;
constexpr uint32_t highest_version = 255;
constexpr uint32_t longest_greeting = 1 << 16;
/// The beginning of the name of every headrace program.
constexpr std::string_view our_name = "headrace/";

class descriptor {
public:
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  int get() const noexcept { return fd_; }

private:
  int fd_;
};

struct attempt {
  const address& to;
  const probe_options& options;
  int cancelled_fd;
  time_point deadline;

  std::string where() const { return to_string(to); }
  status late(const std::string& what, const std::string& question = {}) const {
    using namespace std::chrono;
    return deadline_exceeded(where() + " " + what + " within "
                             + std::to_string(duration_cast<milliseconds>(options.limit).count())
                             + " ms" + question);
  }

  /// Waits until the socket has one of `events`. False: the limit has passed.
  result<bool> wait(int fd, short events) const {
    for (;;) {
      using namespace std::chrono;
      auto left = ceil<milliseconds>(deadline - clock::system().now()).count();
      pollfd fds[] = {{fd, events, 0}, {cancelled_fd, POLLIN, 0}};
      auto n = ::poll(fds, 2, static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
      if (n < 0 && errno == EINTR)
        continue;
      if (fds[1].revents != 0)
        return cancelled("connecting to " + where() + " was given up: the node ends");
      return n > 0;
    }
  }

  result<descriptor> connect_one(const addrinfo& at) const {
    descriptor fd{::socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    int code = 0;
    if (fd.get() < 0)
      code = errno;
    else if (::connect(fd.get(), at.ai_addr, at.ai_addrlen) != 0)
      code = errno;
    if (code == EINPROGRESS) {
      HEADRACE_ASSIGN(bool ready, wait(fd.get(), POLLOUT));
      if (!ready)
        return late("did not answer");
      socklen_t size = sizeof(code);
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &code, &size);
    }
    if (code == 0)
      return fd;
    if (code == ECONNREFUSED)
      return unavailable("nobody listens at " + where()
                         + ": is the address right, and the process there running?");
    return unavailable("cannot connect to " + where() + ": " + std::strerror(code));
  }

  result<descriptor> connect() const {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    auto port = std::to_string(to.port);
    if (auto code = ::getaddrinfo(to.host.c_str(), port.c_str(), &hints, &found); code != 0)
      return unavailable("cannot find the host of " + where() + ": " + ::gai_strerror(code));
    std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard{found, &::freeaddrinfo};
    auto last = unavailable("the host of " + where() + " has no address");
    for (auto* at = found; at != nullptr; at = at->ai_next) {
      auto fd = connect_one(*at);
      if (fd || fd.status().code() != status_code::unavailable)
        return fd;
      last = fd.status();
    }
    return last;
  }

  /// Receives until `bytes` has `size` bytes. False: the stream ended or the limit passed before.
  result<bool> read(int fd, std::string& bytes, size_t size) const {
    while (bytes.size() < size) {
      HEADRACE_ASSIGN(bool ready, wait(fd, POLLIN));
      if (!ready)
        return false;
      char chunk[4096];
      auto n = ::recv(fd, chunk, std::min(sizeof(chunk), size - bytes.size()), 0);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        return false;
      if (n > 0)
        bytes.append(chunk, static_cast<size_t>(n));
    }
    return true;
  }

  status greeted(int fd) const {
    std::string bytes;
    HEADRACE_ASSIGN(bool whole, read(fd, bytes, greeting_header));
    if (!whole && bytes.empty()) {
      if (clock::system().now() >= deadline)
        return late("accepted the connection and said nothing",
                    ": is it another service's port, a stopped process, or one that wants TLS?");
      return unavailable(where()
                         + " closed the connection without a word: a process there is ending, or "
                           "it is another service's port");
    }
    auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
    auto number = [&](size_t i) {
      return uint32_t{byte(i)} << 24 | byte(i + 1) << 16 | byte(i + 2) << 8 | byte(i + 3);
    };
    if (byte(0) != greeting_operation
        || (whole
            && (number(4) > longest_greeting || number(8) != 0 || number(12) > highest_version)))
      return invalid_argument("something else listens at " + where() + ": it greeted with "
                              + quoted(bytes) + ", which no headrace node does");
    if (!whole)
      return cut_short();
    auto size = number(4);
    HEADRACE_ASSIGN(bool named, read(fd, bytes, greeting_header + size));
    if (bytes.find(our_name, greeting_header) != std::string::npos)
      return {};
    return named ? invalid_argument("something else listens at " + where()
                                    + ": an actor system, but not one of headrace")
                 : cut_short();
  }

  status cut_short() const {
    return unavailable(where()
                       + " broke off in the midst of its greeting: a process there is ending, or "
                         "something else listens");
  }

  static std::string quoted(const std::string& bytes) {
    std::string out = "\"";
    for (char c : bytes.substr(0, 24)) out += c >= ' ' && c < 0x7F ? c : '.';
    return out + "\"";
  }

  /// Sends bytes that are invalid both with and without TLS, so that the other side closes the
  /// connection, and waits until it is closed, for at most 100 ms. At the other side, release 0.17
  /// of the framework removes a connection at once if the connection violates the protocol. If the
  /// connection only ends, it is removed later, by the number of its descriptor. By then the next
  /// connection of this node may have the same number there, and would be removed in its place.
  void dismiss(int fd) const {
    const std::string nonsense(greeting_header, '\0');
    if (::send(fd, nonsense.data(), nonsense.size(), MSG_NOSIGNAL) < 0)
      return;
    std::string rest;
    const attempt brief{to, options, cancelled_fd,
                        std::min(deadline, clock::system().now() + std::chrono::milliseconds{100})};
    static_cast<void>(brief.read(fd, rest, SIZE_MAX)); // until the connection ends
  }

  status run() const {
    HEADRACE_ASSIGN(auto fd, connect());
    auto how = options.expect_greeting ? greeted(fd.get()) : status{};
    if (how)
      dismiss(fd.get());
    return how;
  }
};

} // namespace

struct prober::impl {
  descriptor cancelled{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::condition_variable changed;
  size_t running = 0;
  bool over = false; ///< no further threads may be started
};

prober::prober() : impl_(std::make_unique<impl>()) {}

prober::~prober() { drain(); }

void prober::drain() {
  cancel();
  std::unique_lock lock{impl_->mutex};
  impl_->changed.wait(lock, [&] { return impl_->running == 0; });
}

void prober::cancel() noexcept {
  {
    std::lock_guard guard{impl_->mutex};
    impl_->over = true;
  }
  uint64_t one = 1; // the value is never read, so the event stays set
  [[maybe_unused]] auto n = ::write(impl_->cancelled.get(), &one, sizeof(one));
}

void prober::probe(address to, probe_options options, std::function<void(status)> done) {
  bool refused = false;
  {
    std::lock_guard guard{impl_->mutex};
    impl_->running += impl_->over ? 0 : 1;
    refused = impl_->over;
  }
  if (refused)
    return done(cancelled("connecting to " + to_string(to) + " was given up: the node ends"));
  auto deadline = clock::system().now() + options.limit;
  const auto where = to_string(to);
  auto tell = std::make_shared<std::function<void(status)>>(std::move(done));
  const auto ended = [this] {
    std::lock_guard guard{impl_->mutex};
    --impl_->running;
    impl_->changed.notify_all();
  };
  try {
    std::thread{[this, to = std::move(to), options, deadline, tell, ended]() mutable {
      (*tell)(attempt{to, options, impl_->cancelled.get(), deadline}.run());
      *tell = nullptr; // before `ended`: after that the prober may be destroyed
      ended();
    }}.detach();
  } catch (const std::system_error& e) {
    (*tell)(resource_exhausted("cannot connect to " + where
                               + ": the system gives no thread for it: " + e.code().message()));
    *tell = nullptr;
    ended();
  }
}

} // namespace headrace::detail
