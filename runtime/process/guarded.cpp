#include "headrace/runtime/process/guarded.hpp"

#include "headrace/runtime/base/read_text.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace headrace::detail {
namespace {

/// The id of the parent of a process; 0: the process has ended.
pid_t parent_of(pid_t pid) {
  const auto text = read_text("/proc/" + std::to_string(pid) + "/stat");
  // The program's name, in parentheses, may contain any characters.
  const auto at = text.rfind(')');
  int parent = 0;
  char state = 0;
  if (at == std::string::npos || std::sscanf(text.c_str() + at + 1, " %c %d", &state, &parent) != 2)
    return 0;
  return parent;
}

std::vector<pid_t> descendants() {
  std::multimap<pid_t, pid_t> children;
  std::error_code ignored;
  for (const auto& one : std::filesystem::directory_iterator{"/proc", ignored}) {
    const auto name = one.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr
        == name.data() + name.size())
      children.emplace(parent_of(pid), pid);
  }
  std::vector<pid_t> out{::getpid()};
  for (size_t i = 0; i < out.size(); ++i) {
    const auto [begin, end] = children.equal_range(out[i]);
    for (auto it = begin; it != end; ++it) out.push_back(it->second);
  }
  out.erase(out.begin());
  return out;
}

/// Waits for the end of the process to which the descriptor `process` refers, and then kills all
/// descendants and ends this process.
void watch(int process, const std::function<void()>& on_killed) {
  pollfd event{process, POLLIN, 0};
  while (::poll(&event, 1, -1) < 0 && errno == EINTR) {
  }
  kill_descendants();
  if (on_killed)
    on_killed();
  ::_exit(128 + SIGKILL);
}

[[noreturn]] void live(int parent, pid_t parent_id, int signals,
                       const std::function<int(int)>& body,
                       const std::function<void()>& on_killed) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (parent >= 0) {
    std::thread{watch, parent, on_killed}.detach();
  } else { // some containers have no pidfds; then only this process is killed with its parent
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent_id) // the parent ended before the signal was requested
      ::_exit(128 + SIGKILL);
  }
  int code = static_cast<int>(exit_code::internal);
  try {
    code = body(signals);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "headrace: %s\n", e.what());
  }
  kill_descendants();
  std::fflush(nullptr);
  // Static destructors are not needed, and could block.
  ::_exit(code);
}

} // namespace

sigset_t signals_of_a_command() {
  sigset_t out;
  ::sigemptyset(&out);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
                     SIGPROF, SIGCONT, SIGWINCH, SIGURG, SIGIO, SIGPWR, SIGXCPU})
    ::sigaddset(&out, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) ::sigaddset(&out, signal);
  return out;
}

void kill_descendants() {
  // The processes are listed repeatedly, because a process may start others before it is killed.
  for (int round = 0; round < 1000; ++round) {
    const auto all = descendants();
    for (const auto pid : all) ::kill(pid, SIGKILL);
    for (;;) {
      const auto reaped = ::waitpid(-1, nullptr, WNOHANG);
      if (reaped > 0 || (reaped < 0 && errno == EINTR))
        continue;
      if (reaped < 0)
        return;
      break;
    }
    // A killed process that is inside a system call ends only when the call returns.
    ::poll(nullptr, 0, 5);
  }
}

int run_guarded(const std::function<int(int signals)>& body,
                const std::function<void()>& on_killed) {
  const auto passed = signals_of_a_command();
  auto awaited = passed;
  ::sigaddset(&awaited, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    std::perror("headrace: cannot make a pipe");
    return static_cast<int>(exit_code::failure);
  }
  // The descriptor is made before the fork, so that the child cannot miss the end of this process.
  const auto self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  const auto own_id = ::getpid();
  const auto child = ::fork();
  if (child < 0) {
    std::perror("headrace: cannot start the process");
    return static_cast<int>(exit_code::failure);
  }
  if (child == 0) {
    ::close(pipe[1]);
    live(self, own_id, pipe[0], body, on_killed);
  }
  if (self >= 0)
    ::close(self);
  for (;;) {
    int raw = 0;
    const auto reaped = ::waitpid(-1, &raw, WNOHANG);
    if (reaped == child) {
      const bool killed = WIFSIGNALED(raw);
      kill_descendants();
      if (killed && on_killed)
        on_killed();
      return killed ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
    }
    if (reaped > 0)
      continue;
    siginfo_t info{};
    const auto signal = ::sigwaitinfo(&awaited, &info);
    if (signal <= 0 || ::sigismember(&passed, signal) != 1)
      continue;
    // The signal is passed on as a byte in a pipe and not as a signal, because the system drops a
    // signal if an equal one is already pending in the process.
    const auto byte = static_cast<unsigned char>(signal);
    [[maybe_unused]] const auto n = ::write(pipe[1], &byte, 1);
  }
}

} // namespace headrace::detail
