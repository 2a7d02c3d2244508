#include "headrace/runtime/link/wire/own_sockets.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::detail {

namespace {

// The sockets that a forked child must close. A child may call almost no function (a lock that
// another thread held at the fork is never released in the child), so this is a table, with the
// socket's inode number for each descriptor; inode numbers are unique in the system. An entry stays
// when its socket is closed; it is stale if the descriptor has a different inode number.
// Descriptors beyond the table are closed on exec, but not in forked children.
constexpr size_t table_size = size_t{1} << 16;
std::array<std::atomic<uint64_t>, table_size> sockets{};
std::atomic<size_t> in_use{0}; // the entries from this index on are empty

uint64_t number_of(int fd) noexcept {
  struct stat about {};
  return ::fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode) ? about.st_ino : 0;
}

void leave_to_parent() noexcept {
  const auto saved = errno;
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const auto size = in_use.exchange(0);
  for (size_t i = 0; i < size; ++i) {
    const auto fd = static_cast<int>(i);
    const auto number = sockets[i].exchange(0, std::memory_order_relaxed);
    if (number == 0 || number_of(fd) != number)
      continue;
    if (nothing < 0 || ::dup3(nothing, fd, O_CLOEXEC) < 0)
      ::close(fd);
  }
  if (nothing >= 0)
    ::close(nothing);
  errno = saved;
}

int kept(int fd) noexcept {
  if (fd < 0 || static_cast<size_t>(fd) >= table_size)
    return fd;
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, leave_to_parent); });
  sockets[static_cast<size_t>(fd)].store(number_of(fd), std::memory_order_relaxed);
  auto size = in_use.load();
  while (size <= static_cast<size_t>(fd)
         && !in_use.compare_exchange_weak(size, static_cast<size_t>(fd) + 1)) {
  }
  return fd;
}

} // namespace

int open_own_socket(int family) noexcept {
  return kept(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int accept_own_socket(int listening) noexcept {
  return kept(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

} // namespace headrace::detail
