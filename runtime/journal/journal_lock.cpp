#include "headrace/runtime/journal/journal_lock.hpp"

#include "headrace/runtime/base/descriptors.hpp"
#include "headrace/runtime/base/file_error.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail {

namespace {

/// The process id that a lock file contains; 0 if it contains none.
pid_t process_in(int fd) {
  std::array<char, 32> text{};
  const auto n = ::pread(fd, text.data(), text.size(), 0);
  pid_t out = 0;
  if (n > 0)
    std::from_chars(text.data(), text.data() + n, out);
  return out;
}

std::string named(pid_t holder) {
  if (holder == 0)
    return "another process";
  return holder == ::getpid() ? fmt::format("this process ({})", holder)
                              : fmt::format("process {}", holder);
}

} // namespace

result<journal_lock> journal_lock::take(const std::string& directory) {
  const auto path = directory + "/lock";
  constexpr mode_t everybody = 0666; // reduced by the process's umask
  const int fd =
    with_descriptors([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, everybody); });
  if (fd < 0)
    return file_error(path, "open", errno);
  journal_lock out{fd};
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return already_exists(fmt::format("the directory '{}' is in use by {}: end that first, or "
                                        "name another directory",
                                        directory, named(process_in(fd))));
    return failed_precondition(fmt::format("cannot lock '{}' ({}): a journal needs a file system "
                                           "with locks",
                                           path, std::strerror(errno)));
  }
  // The file is overwritten and never truncated, so that it needs no new space on a full disk. If
  // the write fails, the lock is held nevertheless, and the file does not contain the process id.
  const auto text = fmt::format("{:<20}\n", ::getpid());
  [[maybe_unused]] const auto written = ::pwrite(fd, text.data(), text.size(), 0);
  return out;
}

journal_lock::journal_lock(journal_lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
journal_lock& journal_lock::operator=(journal_lock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
journal_lock::~journal_lock() {
  if (fd_ >= 0)
    ::close(fd_);
}

} // namespace headrace::detail
