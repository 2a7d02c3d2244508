#include "headrace/client/command/run/signal_witness.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail::command {
namespace {

/// The body of the forked process. It makes only calls that are safe after a fork.
[[noreturn]] void watch(pid_t parent, int out) {
  constexpr int kept = 0;
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  // The witness gets a name other than the program's. Otherwise it would receive signals to all
  // processes of that name (`killall`), and they would count as signals that the command received.
  ::prctl(PR_SET_NAME, "run-signals");
  ::dup2(out, kept);
  ::syscall(SYS_close_range, kept + 1U, UINT_MAX, 0U);
  for (;;) {
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&all, &info);
    if (signal <= 0)
      continue;
    const auto byte = static_cast<unsigned char>(signal);
    [[maybe_unused]] const auto n = ::write(kept, &byte, 1);
  }
}

} // namespace

result<signal_witness> signal_witness::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return failed_precondition(std::string{"cannot make a pipe: "} + std::strerror(errno));
  const auto parent = ::getpid();
  const auto pid = ::fork();
  if (pid == 0)
    watch(parent, ends[1]);
  const int why = errno;
  ::close(ends[1]);
  if (pid > 0)
    return signal_witness{pid, ends[0]};
  ::close(ends[0]);
  return failed_precondition(std::string{"cannot start a process: "} + std::strerror(why));
}

signal_witness::signal_witness(signal_witness&& other) noexcept
  : pid_(std::exchange(other.pid_, -1)), out_(std::exchange(other.out_, -1)) {}

signal_witness::~signal_witness() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (out_ >= 0)
    ::close(out_);
}

} // namespace headrace::detail::command
