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
/// releases the GIL, and a signal (Ctrl-C) ends the wait with the exception of its handler.
class announcement {
public:
  announcement() { sem_init(&done_, 0, 0); }
  ~announcement() { sem_destroy(&done_); }
  announcement(const announcement&) = delete;
  announcement& operator=(const announcement&) = delete;

  /// May be called from any thread.
  void announce() noexcept { sem_post(&done_); }
  /// Throws nb::python_error if a signal's handler raised. @pre the GIL is held
  void wait();
  /// True if it was announced; then it need not be waited for.
  bool try_wait() noexcept { return sem_trywait(&done_) == 0; }

private:
  sem_t done_;
};

/// Lets callers in one at a time. A waiting caller releases the GIL, and a signal ends the wait, as
/// for `announcement`.
class turns {
public:
  turns() { free_.announce(); }

  /// Held by the caller whose turn it is.
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
  /// Throws nb::python_error if a signal's handler raised. @pre the GIL is held, and this thread
  /// does not hold a turn
  [[nodiscard]] turn take() { return turn{*this}; }

private:
  announcement free_;
};

/// Becomes true once, for all waiting threads. `threading.Event` cannot be used: Ctrl-C during its
/// wait can leave its lock in a wrong state.
class flag {
public:
  /// May be called from any thread.
  void set() noexcept {
    if (!set_.exchange(true))
      announced_.announce();
  }
  bool is_set() const noexcept { return set_; }
  /// See `announcement`.
  void wait() {
    announced_.wait();
    announced_.announce(); // to the next one
  }

private:
  std::atomic<bool> set_{false};
  announcement announced_;
};

/// Runs a function that may block on a thread of its own, and waits as above. Its exception is
/// thrown here. `work` must own what it uses: after a signal it continues, and is not waited for.
void run_interruptibly(std::function<void()> work);

/// Returns a value that a thread makes, while the caller waits. A signal requests the thread's
/// stop.
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

/// Converts Python's seconds.
inline duration seconds(double x) {
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>{x});
}

/// To be called when the interpreter is about to end. Threads other than the main one that return
/// from waits later stay there: if they took the GIL, they would be unwound at any point.
void leave() noexcept;
/// To be called before the GIL is taken again.
void stay_out_if_leaving() noexcept;

/// Releases the GIL while it lives.
class without_gil {
public:
  ~without_gil() { stay_out_if_leaving(); }

private:
  nb::gil_scoped_release others_;
};

/// Lets a thread of the engine run Python: holds the GIL while the object lives. The interpreter's
/// exit waits for visits, because a thread that takes the GIL later would be unwound at any point.
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
  /// Waits for present visits. @pre the GIL is not held
  static void await_all(std::chrono::steady_clock::time_point limit) noexcept;

private:
  std::optional<nb::gil_scoped_acquire> lock_;
};

/// An object that threads of the engine may destroy at any time. @pre the GIL is held
std::shared_ptr<nb::object> kept(nb::object x);

/// Throws if this is a forked child of a process that had started threads of headrace, which do not
/// exist here. Otherwise records that threads are started.
void enter_threads();
/// True in a forked child of a process that had started threads.
bool is_orphan() noexcept;
/// Never destroys `x`. For objects in such a child whose destruction would wait for threads.
template <class T>
void keep_for_ever(T x) noexcept {
  static_cast<void>(new (std::nothrow) T{std::move(x)});
}

} // namespace headrace::detail::python
