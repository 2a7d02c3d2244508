#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "python.hpp"

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <utility>

namespace headrace::detail::python {

/// An event that another thread announces; each announcement ends one wait. The waiting thread
/// releases the GIL. A signal (Ctrl-C) whose handler raises an exception ends the wait, and `wait`
/// throws that exception.
class announcement {
public:
  announcement() { sem_init(&done_, 0, 0); }
  ~announcement() { sem_destroy(&done_); }
  announcement(const announcement&) = delete;
  announcement& operator=(const announcement&) = delete;

  /// May be called from any thread.
  void announce() noexcept { sem_post(&done_); }
  /// Throws nb::python_error if a signal's handler raises an exception. @pre the GIL is held
  void wait();
  /// Uses up one announcement without waiting; false if there is none.
  bool try_wait() noexcept { return sem_trywait(&done_) == 0; }

private:
  sem_t done_;
};

/// Lets one caller at a time run; the others wait for their turn. A waiting caller releases the
/// GIL, and a signal ends its wait, as in `announcement::wait`.
class turns {
public:
  turns() { free_.announce(); }

  /// A caller's turn, which lasts while this object exists.
  class turn {
  public:
    explicit turn(turns& of) : of_(of) {
      if (!of_.free_.try_wait())
        of_.free_.wait();
    }
    ~turn() { of_.free_.announce(); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

  private:
    turns& of_;
  };
  /// Waits for a turn. Throws nb::python_error if a signal's handler raises an exception. @pre the
  /// GIL is held, and this thread does not hold a turn
  [[nodiscard]] turn take() { return turn{*this}; }

private:
  announcement free_;
};

/// A flag that is set once, which ends the waits of all threads. `threading.Event` cannot be used:
/// Ctrl-C during its wait can leave its lock in a wrong state.
class flag {
public:
  /// May be called from any thread.
  void set() noexcept {
    if (!set_.exchange(true))
      announced_.announce();
  }
  bool is_set() const noexcept { return set_; }
  /// Waits until the flag is set, as `announcement::wait`.
  void wait() {
    announced_.wait();
    announced_.announce(); // ends the wait of the next thread
  }

private:
  std::atomic<bool> set_{false};
  announcement announced_;
};

/// Runs `work`, which may block, on a thread of its own, and waits for it as `announcement::wait`
/// does. An exception of `work` is thrown here. If a signal ends the wait, `work` continues on its
/// thread; therefore `work` must own all data that it uses.
void run_interruptibly(std::function<void()> work);

/// Calls `make(token)` on a thread of its own, waits as `run_interruptibly` does, and returns the
/// result. If a signal ends the wait, a stop is requested of `token`.
template <class F>
auto interruptibly(F make) {
  using value = decltype(make(std::stop_token{}));
  auto out = std::make_shared<std::optional<value>>();
  std::stop_source stop;
  try {
    run_interruptibly([out, make = std::move(make), token = stop.get_token()]() mutable { //
      *out = make(token);
    });
  } catch (...) {
    stop.request_stop();
    throw;
  }
  return std::move(**out);
}

/// Converts a number of seconds, as Python passes it, to a duration.
inline duration seconds(double x) {
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>{x});
}

/// To be called when the interpreter is about to end. Afterwards `stay_out_if_leaving` returns only
/// on the main thread. If another thread took the GIL then, Python would end that thread by
/// unwinding its stack, and the first noexcept function on that stack would abort the process.
void leave() noexcept;
/// Returns at once before `leave` and on the main thread; otherwise blocks for ever. To be called
/// before a thread that has released the GIL takes it again.
void stay_out_if_leaving() noexcept;

/// Releases the GIL while the object exists.
class without_gil {
public:
  ~without_gil() { stay_out_if_leaving(); }

private:
  nb::gil_scoped_release others_;
};

/// Allows a thread of the engine to run Python: holds the GIL while the object exists. Before the
/// interpreter exits, it waits for all visits: if a thread took the GIL during the exit, Python
/// would unwind the thread's stack, and a noexcept function on that stack would abort the process.
class visit {
public:
  visit();
  ~visit();
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  /// False: the interpreter is about to end, and the GIL is not held.
  explicit operator bool() const noexcept { return lock_.has_value(); }
  /// No visits can begin from now on.
  static void refuse() noexcept;
  static bool are_refused() noexcept;
  /// Waits until all visits have ended, but at most until `limit`. @pre the GIL is not held
  static void await_all(std::chrono::steady_clock::time_point limit) noexcept;

private:
  std::optional<nb::gil_scoped_acquire> lock_;
};

/// Returns `x` in a pointer that any thread may destroy without the GIL. @pre the GIL is held
std::shared_ptr<nb::object> kept(nb::object x);

/// Throws if this is a forked child of a process that had started threads of headrace, which do not
/// exist here. Otherwise records that threads are started.
void enter_threads();
/// True in a forked child of a process that had started threads.
bool is_orphan() noexcept;
/// Keeps `x` without ever destroying it. It is used in a forked child in which `is_orphan()` is
/// true, and for objects whose destruction would wait for threads.
template <class T>
void keep_for_ever(T x) noexcept {
  static_cast<void>(new (std::nothrow) T{std::move(x)});
}

} // namespace headrace::detail::python
