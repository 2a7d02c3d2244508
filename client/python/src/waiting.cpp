#include "waiting.hpp"

#include "headrace/runtime/base/status.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace headrace::detail::python {

namespace {

/// True if threads were started in this process, or in one that it was forked from.
std::atomic<bool> started{false};
/// True in a forked child of a process that had started threads. The child sets it at the fork,
/// because to compare process ids for each element would take longer than to read an element.
std::atomic<bool> orphan{false};

std::atomic<bool> gone{false};

/// The longest time between two checks for signals. A signal that arrives just before the wait
/// begins does not interrupt the wait, and is found at the next check.
constexpr long look_every_ns = 50'000'000;

struct visits {
  std::mutex mutex;
  std::condition_variable changed;
  size_t count = 0;
  std::atomic<bool> refused{false};
};
visits& all_visits() {
  static auto* the = new visits; // never destroyed: threads may use it until exit
  return *the;
}

} // namespace

void announcement::wait() {
  for (;;) {
    bool announced = false;
    {
      nb::gil_scoped_release others;
      timespec until{};
      clock_gettime(CLOCK_MONOTONIC, &until);
      until.tv_nsec += look_every_ns;
      if (until.tv_nsec >= 1'000'000'000) {
        until.tv_nsec -= 1'000'000'000;
        ++until.tv_sec;
      }
      announced = sem_clockwait(&done_, CLOCK_MONOTONIC, &until) == 0;
      stay_out_if_leaving();
    }
    if (announced)
      return;
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
  }
}

void run_interruptibly(std::function<void()> work) {
  struct shared {
    announcement done;
    std::exception_ptr thrown;
  };
  enter_threads();
  auto both = std::make_shared<shared>();
  std::thread{[both, work = std::move(work)] {
    try {
      work();
    } catch (...) {
      both->thrown = std::current_exception();
    }
    both->done.announce();
  }}.detach();
  both->done.wait();
  if (both->thrown)
    std::rethrow_exception(both->thrown);
}

void leave() noexcept { gone = true; }
void stay_out_if_leaving() noexcept {
  while (gone && gettid() != getpid()) pause();
}

visit::visit() {
  auto& all = all_visits();
  {
    std::lock_guard lock{all.mutex};
    if (all.refused || !Py_IsInitialized())
      return;
    ++all.count;
  }
  lock_.emplace();
}

visit::~visit() {
  if (!lock_)
    return;
  lock_.reset();
  auto& all = all_visits();
  std::lock_guard lock{all.mutex};
  --all.count;
  all.changed.notify_all();
}

void visit::refuse() noexcept {
  std::lock_guard lock{all_visits().mutex};
  all_visits().refused = true;
}
bool visit::are_refused() noexcept { return all_visits().refused; }

void visit::await_all(std::chrono::steady_clock::time_point limit) noexcept {
  auto& all = all_visits();
  std::unique_lock lock{all.mutex};
  all.changed.wait_until(lock, limit, [&] { return all.count == 0; });
}

std::shared_ptr<nb::object> kept(nb::object x) {
  return {new nb::object{std::move(x)}, [](nb::object* p) {
            if (const visit here; here)
              delete p; // if the visit is refused, the interpreter ends, and the object is kept
          }};
}

bool is_orphan() noexcept { return orphan.load(std::memory_order_relaxed); }

void enter_threads() {
  if (!started.load(std::memory_order_relaxed) && !started.exchange(true))
    pthread_atfork(nullptr, nullptr, [] { orphan = true; });
  if (is_orphan())
    throw error{failed_precondition(
      "this process was forked from one that uses headrace already, whose threads do not exist "
      "here: start it by spawn (multiprocessing.get_context(\"spawn\"), DataLoader(..., "
      "multiprocessing_context=\"spawn\")), or use headrace only after the fork")};
}

} // namespace headrace::detail::python
