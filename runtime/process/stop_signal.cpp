#include "headrace/runtime/process/stop_signal.hpp"

#include "headrace/runtime/process/exit_code.hpp"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>

namespace headrace::detail {
namespace {

sigset_t stop_set() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, signal);
  return set;
}

} // namespace

struct stop_signal::impl {
  explicit impl(stop_options options) : budget(options.budget) {
    auto set = stop_set();
    ::pthread_sigmask(SIG_BLOCK, &set, &before);
    signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    waiter = std::thread{[this] { run(); }};
  }

  ~impl() {
    {
      std::lock_guard guard{mutex};
      ending = true;
    }
    changed.notify_all();
    poke();
    waiter.join();
    ::close(signals);
    ::close(wake);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void poke() {
    uint64_t one = 1;
    [[maybe_unused]] auto n = ::write(wake, &one, sizeof(one));
  }

  void stop(int signal) {
    {
      std::lock_guard guard{mutex};
      if (stopped)
        return;
      stopped = signal;
      deadline = clock::system().now() + budget;
    }
    changed.notify_all();
  }

  /// Waits for signals, and enforces the budget after the first one.
  void run() {
    for (;;) {
      int timeout = -1;
      {
        std::lock_guard guard{mutex};
        if (ending)
          return;
        if (stopped) {
          auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::system().now());
          if (left.count() <= 0)
            ::_exit(static_cast<int>(exit_code::stop_overrun));
          timeout = static_cast<int>(left.count());
        }
      }
      pollfd events[] = {{signals, POLLIN, 0}, {wake, POLLIN, 0}};
      ::poll(events, 2, timeout);
      signalfd_siginfo info;
      while (::read(signals, &info, sizeof(info)) == sizeof(info))
        stop(static_cast<int>(info.ssi_signo));
      uint64_t count;
      [[maybe_unused]] auto n = ::read(wake, &count, sizeof(count));
    }
  }

  duration budget;
  sigset_t before;
  int signals = -1;
  int wake = -1;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::optional<int> stopped;
  time_point deadline;
  bool ending = false;
  std::thread waiter;
};

stop_signal::stop_signal(stop_options options) : impl_(std::make_unique<impl>(options)) {}
stop_signal::~stop_signal() = default;

int stop_signal::wait() {
  std::unique_lock lock{impl_->mutex};
  impl_->changed.wait(lock, [&] { return impl_->stopped.has_value(); });
  return *impl_->stopped;
}

std::optional<int> stop_signal::wait(duration limit) {
  std::unique_lock lock{impl_->mutex};
  impl_->changed.wait_for(lock, limit, [&] { return impl_->stopped.has_value(); });
  return impl_->stopped;
}

bool stop_signal::stopped() const {
  std::lock_guard guard{impl_->mutex};
  return impl_->stopped.has_value();
}

void stop_signal::request() {
  impl_->stop(0);
  impl_->poke();
}

} // namespace headrace::detail
