#include "headrace/runtime/base/descriptors.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <fcntl.h>
#include <mutex>
#include <sys/resource.h>
#include <unistd.h>

namespace headrace::detail {

size_t descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return most_descriptors;
  return limit.rlim_cur;
}

size_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    const auto most = std::min<rlim_t>(limit.rlim_max, most_descriptors);
    if (limit.rlim_cur < most) {
      limit.rlim_cur = most;
      ::setrlimit(RLIMIT_NOFILE, &limit);
    }
  }
  return descriptor_limit();
}

bool lower_half_of_descriptors_taken(int any) noexcept {
  const int lowest = ::fcntl(any, F_DUPFD_CLOEXEC, 0);
  if (lowest < 0)
    return errno == EMFILE || errno == ENFILE;
  ::close(lowest);
  return static_cast<size_t>(lowest) >= descriptor_limit() / 2;
}

int with_descriptors(const std::function<int()>& attempt, const std::stop_token& stop,
                     const descriptor_patience& patience) {
  const auto short_of = [](int outcome) {
    return outcome == -1 && (errno == EMFILE || errno == ENFILE);
  };
  auto out = attempt();
  if (!short_of(out))
    return out;
  const auto& time = clock::system();
  const auto deadline = time.now() + patience.in_all;
  auto pause = patience.first_pause;
  std::mutex mutex;
  std::condition_variable_any stopped;
  while (short_of(out)) {
    const auto saved = errno;
    const auto left = deadline - time.now();
    if (left <= duration::zero() || stop.stop_requested()) {
      errno = saved;
      return out;
    }
    std::unique_lock hold{mutex};
    stopped.wait_for(hold, stop, std::min<duration>(pause, left), [] { return false; });
    pause = std::min(2 * pause, patience.longest_pause);
    out = attempt();
  }
  return out;
}

int open_patiently(const std::string& path, int flags, const std::stop_token& stop) {
  if (path.find('\0') != std::string::npos) { // open(2) would read up to there
    errno = EINVAL;
    return -1;
  }
  return with_descriptors([&] { return ::open(path.c_str(), flags | O_CLOEXEC); }, stop);
}

} // namespace headrace::detail
