#include "benchmarks/raw_stream.hpp"

#include <arpa/inet.h>
#include <chrono>
#include <memory>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace headrace::detail::bench {

namespace {

constexpr size_t frame_bytes = 64;

void write_all(int socket, iovec* parts, int count) {
  while (count != 0) {
    auto n = ::writev(socket, parts, count);
    if (n <= 0)
      ::_exit(1);
    for (; count != 0 && static_cast<size_t>(n) >= parts->iov_len; ++parts, --count)
      n -= static_cast<ssize_t>(parts->iov_len);
    if (count != 0) {
      parts->iov_base = static_cast<char*>(parts->iov_base) + n;
      parts->iov_len -= static_cast<size_t>(n);
    }
  }
}

[[noreturn]] void produce(const sockaddr_in& to, size_t size, size_t count) {
  auto socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0)
    ::_exit(1);
  std::vector<std::vector<int64_t>> ring(4, std::vector<int64_t>(size / sizeof(int64_t)));
  char frame[frame_bytes] = {};
  for (size_t i = 0; i < count; ++i) {
    auto& block = ring[i % ring.size()];
    fill_block(block.data(), size, static_cast<int64_t>(i));
    iovec parts[2] = {{frame, frame_bytes}, {block.data(), size}};
    write_all(socket, parts, 2);
  }
  // Waits until the reader has received all data and has closed the connection.
  char c;
  [[maybe_unused]] auto n = ::read(socket, &c, 1);
  ::_exit(0);
}

} // namespace

double raw_stream_rate(size_t size, size_t count) {
  auto listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t at_size = sizeof(at);
  if (::bind(listening, reinterpret_cast<sockaddr*>(&at), at_size) != 0
      || ::listen(listening, 1) != 0
      || ::getsockname(listening, reinterpret_cast<sockaddr*>(&at), &at_size) != 0)
    throw std::runtime_error{"raw stream: cannot listen"};
  auto child = ::fork();
  if (child == 0)
    produce(at, size, count);
  auto socket = ::accept(listening, nullptr, nullptr);
  std::vector<std::unique_ptr<int64_t[]>> ring(8);
  char frame[frame_bytes];
  int64_t sum = 0;
  auto whole = true;
  auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < count && whole; ++i) {
    auto& block = ring[i % ring.size()];
    block.reset(new int64_t[(size + sizeof(int64_t) - 1) / sizeof(int64_t)]);
    whole = ::recv(socket, frame, frame_bytes, MSG_WAITALL) == static_cast<ssize_t>(frame_bytes)
            && ::recv(socket, block.get(), size, MSG_WAITALL) == static_cast<ssize_t>(size);
    sum += sum_of(block.get(), size);
  }
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  // The volatile variable keeps the compiler from removing the sums.
  [[maybe_unused]] volatile int64_t kept = sum;
  ::close(socket);
  ::close(listening);
  ::waitpid(child, nullptr, 0);
  if (!whole)
    throw std::runtime_error{"raw stream: the producer ended early"};
  return static_cast<double>(size) * static_cast<double>(count) / taken.count();
}

} // namespace headrace::detail::bench
