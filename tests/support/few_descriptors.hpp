#pragma once

#include <cstddef>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace headrace::detail::test {

/// While the object exists, this process has a low limit on descriptors, and only `free` of the
/// numbers below half of the limit are unused. When these are taken, servers accept no connections:
/// they keep the upper half for open connections. A test can take descriptors and give them back.
class few_descriptors {
public:
  explicit few_descriptors(size_t free) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    half_ = static_cast<size_t>(lowest_free()) + free;
    rlimit now{2 * half_, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  few_descriptors(const few_descriptors&) = delete;
  ~few_descriptors() {
    give_back();
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

  /// The number of descriptors that the process may have. The hard limit is not changed.
  size_t limit() const { return 2 * half_; }
  size_t hard() const { return before_.rlim_max; }

  /// Takes descriptors until the lowest free one is in the upper half.
  void take_half() {
    while (static_cast<size_t>(lowest_free()) < half_) taken_.push_back(::dup(STDERR_FILENO));
  }
  void take_all() {
    for (int fd; (fd = ::dup(STDERR_FILENO)) >= 0;) taken_.push_back(fd);
  }
  void give_one_back() {
    ::close(taken_.back());
    taken_.pop_back();
  }
  void give_back() {
    while (!taken_.empty()) give_one_back();
  }

private:
  static int lowest_free() {
    const int fd = ::dup(STDERR_FILENO);
    ::close(fd);
    return fd;
  }

  rlimit before_{};
  size_t half_ = 0;
  std::vector<int> taken_;
};

} // namespace headrace::detail::test
