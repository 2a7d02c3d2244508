#include "headrace/runtime/process/process_parent.hpp"

#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/supervision/backoff.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <exception>
#include <new>
#include <optional>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headrace::detail {
namespace {

/// Keeps the data about lives in memory that the parent and its children share.
class shared_lives final : public process_lives {
public:
  process_past past() const override {
    const uint32_t restarts = restarts_;
    return {restarts, restarts == 0 ? std::string{} : to_string(process_end{code_, signal_})};
  }
  uint16_t port(size_t slot, uint16_t fallback) const noexcept override {
    auto kept = slot < slots ? ports_[slot].load() : 0;
    return kept != 0 ? static_cast<uint16_t>(kept) : fallback;
  }
  void keep_port(size_t slot, uint16_t port) noexcept override {
    if (slot < slots)
      ports_[slot] = port;
  }
  void count_restart(const process_end& last) noexcept {
    ++restarts_;
    code_ = last.code;
    signal_ = last.signal;
  }

private:
  std::atomic<uint32_t> restarts_ = 0;
  std::atomic<int> code_ = 0; ///< the exit code of the last life
  std::atomic<int> signal_ = 0;
  std::array<std::atomic<uint32_t>, slots> ports_{};
};

void say_restart(const process_end& end, duration pause) {
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(pause).count();
  std::fprintf(stderr, "headrace: the process ended: %s; starting it again in %lld ms\n",
               to_string(end).c_str(), static_cast<long long>(ms));
}

class parent {
public:
  explicit parent(const parent_options& options)
    : options_(options),
      pauses_({.first = options.first_pause,
               .longest = options.longest_pause,
               .stable_after = options.period},
              random_id()) {
    ::sigemptyset(&set_);
    for (int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set_, signal);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~parent() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  int run(shared_lives& lives, const std::function<int(process_lives&)>& body) {
    for (;;) {
      auto self = ::getpid();
      auto child = ::fork();
      if (child < 0) {
        std::perror("headrace: cannot start the process");
        return static_cast<int>(exit_code::failure);
      }
      if (child == 0)
        live(self, lives, body);
      auto started = clock::system().now();
      auto end = watch(child);
      if (stopping_ || !is_restarted(end))
        return end.as_exit_code();
      auto pause = next_pause(started, clock::system().now());
      if (!pause)
        return end.as_exit_code();
      (options_.on_restart ? options_.on_restart : say_restart)(end, *pause);
      if (asked_to_stop_within(*pause))
        return static_cast<int>(exit_code::ok);
      lives.count_restart(end);
    }
  }

private:
  [[noreturn]] void live(pid_t self, process_lives& lives,
                         const std::function<int(process_lives&)>& body) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != self)
      ::_exit(static_cast<int>(exit_code::failure));
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
    int code = static_cast<int>(exit_code::internal);
    try {
      code = body(lives);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "headrace: %s\n", e.what());
    }
    std::fflush(nullptr);
    // Static destructors are not needed, and could block.
    ::_exit(code);
  }

  /// Forwards signals until the child has ended, and kills it when the stop budget has passed.
  process_end watch(pid_t child) {
    std::optional<time_point> kill_at;
    for (;;) {
      int raw = 0;
      if (auto got = ::waitpid(child, &raw, WNOHANG); got == child)
        return WIFSIGNALED(raw) ? process_end{0, WTERMSIG(raw)} : process_end{WEXITSTATUS(raw), 0};
      siginfo_t info{};
      std::optional<duration> limit;
      if (kill_at)
        limit = *kill_at - clock::system().now();
      auto signal = next_signal(info, limit);
      if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) {
        stopping_ = true;
        // A signal of the terminal was sent to the whole group, so the child has it already.
        if (info.si_code != SI_KERNEL)
          ::kill(child, signal);
        if (!kill_at)
          kill_at = clock::system().now() + options_.stop_budget;
      } else if (kill_at && clock::system().now() >= *kill_at) {
        ::kill(child, SIGKILL);
        kill_at.reset();
      }
    }
  }

  /// Waits for a signal of `set_`. Returns -1 after `limit`; nullopt: no limit.
  int next_signal(siginfo_t& info, std::optional<duration> limit) {
    if (!limit)
      return ::sigwaitinfo(&set_, &info);
    auto ns = std::max<int64_t>(limit->count(), 0);
    timespec left{ns / 1'000'000'000, ns % 1'000'000'000};
    return ::sigtimedwait(&set_, &info, &left);
  }

  /// Waits for `pause`. True: a signal to stop arrived during the pause.
  bool asked_to_stop_within(duration pause) {
    auto end = clock::system().now() + pause;
    for (;;) {
      siginfo_t info{};
      auto signal = next_signal(info, end - clock::system().now());
      if (signal > 0 && signal != SIGCHLD)
        return true;
      if (clock::system().now() >= end)
        return false;
    }
  }

  std::optional<duration> next_pause(time_point started, time_point now) {
    while (!restarts_.empty() && now - restarts_.front() > options_.period) restarts_.pop_front();
    if (restarts_.size() >= options_.max_restarts)
      return std::nullopt;
    restarts_.push_back(now);
    return pauses_.failed(now - started);
  }

  const parent_options& options_;
  sigset_t set_;
  sigset_t before_;
  bool stopping_ = false;
  backoff pauses_;
  std::deque<time_point> restarts_;
};

} // namespace

bool is_restarted(const process_end& end) noexcept {
  if (end.signal != 0)
    return end.signal != SIGTERM && end.signal != SIGINT && end.signal != SIGHUP;
  return end.code == static_cast<int>(exit_code::memory_limit)
         || end.code == static_cast<int>(exit_code::stuck_thread);
}

int run_under_parent(const parent_options& options,
                     const std::function<int(process_lives&)>& body) {
  auto* page = ::mmap(nullptr, sizeof(shared_lives), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    std::perror("headrace: cannot start the process");
    return static_cast<int>(exit_code::failure);
  }
  auto* lives = new (page) shared_lives;
  auto code = parent{options}.run(*lives, body);
  lives->~shared_lives();
  ::munmap(page, sizeof(shared_lives));
  return code;
}

} // namespace headrace::detail
