#include "headrace/runtime/process/child_process.hpp"

#include "headrace/runtime/process/exit_code.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <set>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail {
namespace {

status os_error(const std::string& what, int code) {
  return {status_code::failed_precondition, what + ": " + std::strerror(code)};
}

std::vector<char*> pointers_to(std::vector<std::string>& xs) {
  std::vector<char*> out;
  for (auto& x : xs) out.push_back(x.data());
  out.push_back(nullptr);
  return out;
}

/// The given variables, and those of this process that have other names. No name occurs twice,
/// because programs disagree on which of two variables with the same name is valid.
std::vector<std::string> with_parents(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  std::set<std::string_view> names;
  const auto add = [&](std::string_view one) {
    if (names.insert(one.substr(0, one.find('='))).second)
      out.emplace_back(one);
  };
  for (const auto& one : given) add(one);
  for (char** e = environ; *e != nullptr; ++e) add(*e);
  return out;
}

/// All data that a child needs between fork and exec. They are prepared before the fork, because
/// the child may make only async-signal-safe calls.
struct launch {
  char** argv;
  char** environment;
  int stdout_fd;
  int report_fd;
  bool merge_stderr;
  bool dies_with_parent;
  bool own_group;
  const std::vector<int>& ignored_signals;
  pid_t parent;

  [[noreturn]] void run() const {
    if (dies_with_parent) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) // the parent has ended before the call
        ::_exit(static_cast<int>(exit_code::failure));
    }
    if (own_group)
      ::setpgid(0, 0);
    // The signal mask and ignored signals are inherited. The program must start with an empty mask,
    // and with the usual effect of SIGPIPE, which servers of headrace ignore.
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    for (const int signal : ignored_signals) ::signal(signal, SIG_IGN);
    // If the descriptor has the number of standard output already, `dup2` would leave it
    // close-on-exec.
    if (stdout_fd == STDOUT_FILENO)
      ::fcntl(STDOUT_FILENO, F_SETFD, 0);
    else if (stdout_fd >= 0)
      ::dup2(stdout_fd, STDOUT_FILENO);
    if (merge_stderr)
      ::dup2(STDOUT_FILENO, STDERR_FILENO);
    ::syscall(SYS_close_range, 3U, UINT_MAX, 4U /* CLOSE_RANGE_CLOEXEC */);
    ::execvpe(argv[0], argv, environment);
    int code = errno;
    [[maybe_unused]] auto n = ::write(report_fd, &code, sizeof(code));
    ::_exit(static_cast<int>(exit_code::exec_failed));
  }
};

int remaining_ms(time_point deadline) {
  using namespace std::chrono;
  auto left = ceil<milliseconds>(deadline - clock::system().now()).count();
  return left <= 0 ? 0 : static_cast<int>(std::min<int64_t>(left, INT_MAX));
}

} // namespace

std::string to_string(const process_end& x) {
  if (x.signal != 0)
    return "signal " + std::to_string(x.signal) + " (" + ::strsignal(x.signal) + ")";
  auto out = "exit code " + std::to_string(x.code);
  if (auto text = describe(static_cast<exit_code>(x.code)); !text.empty())
    ((out += " (") += text) += ")";
  return out;
}

result<child_process> child_process::start(child_options options) {
  if (options.argv.empty())
    return invalid_argument("no program to start: argv is empty");
  auto whole = with_parents(options.environment);
  auto argv = pointers_to(options.argv);
  auto environment = pointers_to(whole);
  int out[2] = {-1, -1};
  int report[2] = {-1, -1};
  if ((options.read_stdout && ::pipe2(out, O_CLOEXEC) != 0) || ::pipe2(report, O_CLOEXEC) != 0) {
    auto code = errno;
    ::close(out[0]);
    ::close(out[1]);
    return os_error("cannot start " + options.argv[0], code);
  }
  launch plan{argv.data(),       environment.data(),      out[1],
              report[1],         options.merge_stderr,    options.dies_with_parent,
              options.own_group, options.ignored_signals, ::getpid()};
  auto pid = ::fork();
  if (pid == 0)
    plan.run();
  auto code = pid < 0 ? errno : 0;
  ::close(out[1]);
  ::close(report[1]);
  if (pid > 0) {
    // A successful exec closes the pipe; otherwise the pipe contains the error number.
    while (::read(report[0], &code, sizeof(code)) < 0 && errno == EINTR) {
    }
    if (code != 0)
      ::waitpid(pid, nullptr, 0);
  }
  ::close(report[0]);
  if (code != 0) {
    ::close(out[0]);
    return os_error("cannot start " + options.argv[0], code);
  }
  return child_process{pid, out[0]};
}

child_process::child_process(child_process&& other) noexcept
  : pid_(std::exchange(other.pid_, -1)),
    out_(std::exchange(other.out_, -1)),
    pending_(std::move(other.pending_)),
    at_end_(other.at_end_),
    ended_(other.ended_) {}

child_process& child_process::operator=(child_process&& other) noexcept {
  if (this != &other) {
    close();
    pid_ = std::exchange(other.pid_, -1);
    out_ = std::exchange(other.out_, -1);
    pending_ = std::move(other.pending_);
    at_end_ = other.at_end_;
    ended_ = other.ended_;
  }
  return *this;
}

child_process::~child_process() { close(); }

void child_process::close() noexcept {
  if (pid_ > 0 && !ended_) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (out_ >= 0)
    ::close(out_);
  pid_ = out_ = -1;
}

bool child_process::running() { return pid_ > 0 && !wait(duration::zero()).ok(); }

void child_process::kill(int signal) {
  if (pid_ > 0 && !ended_)
    ::kill(pid_, signal);
}

result<process_end> child_process::wait(duration limit) {
  if (pid_ <= 0)
    return failed_precondition("there is no process");
  if (ended_)
    return *ended_;
  auto deadline = clock::system().now() + limit;
  // A descriptor that becomes readable when the process ends.
  auto watch = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  for (;;) {
    int raw = 0;
    auto got = ::waitpid(pid_, &raw, WNOHANG);
    if (got == pid_) {
      ended_ = WIFSIGNALED(raw) ? process_end{0, WTERMSIG(raw)} : process_end{WEXITSTATUS(raw), 0};
      break;
    }
    if (got < 0 && errno == ECHILD) { // the system did not keep the exit code
      ended_ = process_end{unknown_exit_code, 0};
      break;
    }
    auto left = remaining_ms(deadline);
    if (left == 0 || (got < 0 && errno != EINTR))
      break;
    pollfd event{watch, POLLIN, 0};
    ::poll(&event, 1, watch >= 0 ? left : std::min(left, 5));
  }
  if (watch >= 0)
    ::close(watch);
  if (ended_)
    return *ended_;
  return deadline_exceeded("process " + std::to_string(pid_) + " still runs");
}

result<std::string> child_process::read_line(duration limit) {
  auto deadline = clock::system().now() + limit;
  for (;;) {
    if (auto end = pending_.find('\n'); end != std::string::npos) {
      auto line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (at_end_ || out_ < 0) {
      if (pending_.empty())
        return out_of_range("the output of process " + std::to_string(pid_) + " has ended");
      return std::exchange(pending_, {});
    }
    pollfd event{out_, POLLIN, 0};
    auto ready = ::poll(&event, 1, remaining_ms(deadline));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return deadline_exceeded("process " + std::to_string(pid_) + " wrote no line in time");
    char chunk[4096];
    auto n = ::read(out_, chunk, sizeof(chunk));
    if (n > 0)
      pending_.append(chunk, static_cast<size_t>(n));
    else if (n == 0 || errno != EINTR)
      at_end_ = true;
  }
}

result<std::string> child_process::read_until(const std::string& text, duration limit) {
  auto deadline = clock::system().now() + limit;
  std::string seen;
  for (;;) {
    auto line = read_line(deadline - clock::system().now());
    if (!line)
      return status{line.status().code(), fmt::format("no line with \"{}\": {}; it wrote:{}", text,
                                                      line.status().message(), seen)};
    if (line->find(text) != std::string::npos)
      return line;
    seen.append("\n  ").append(*line);
  }
}

} // namespace headrace::detail
