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

namespace headrace::python {

/// Something that another thread will announce once. The thread that waits leaves the GIL to
/// others, and a signal (Ctrl-C) ends the wait with the exception of its handler.
class announcement {
public:
  announcement() { sem_init(&done_, 0, 0); }
  ~announcement() { sem_destroy(&done_); }
  announcement(const announcement&) = delete;
  announcement& operator=(const announcement&) = delete;

  /// From any thread.
  void announce() noexcept { sem_post(&done_); }
  /// Throws nb::python_error when a signal's handler raised. @pre the GIL is held
  void wait();
  /// Was it announced? Then it is as if it was waited for.
  bool try_wait() noexcept { return sem_trywait(&done_) == 0; }

private:
  sem_t done_;
};

/// Lets callers in one at a time. Who waits for a turn leaves the GIL to others, and a signal ends
/// the wait, as of `announcement`.
class turns {
public:
  turns() { free_.announce(); }

  /// Held by the caller that is in.
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
  /// Throws nb::python_error when a signal's handler raised. @pre the GIL is held, this thread is
  /// not in
  [[nodiscard]] turn take() { return turn{*this}; }

private:
  announcement free_;
};

/// Becomes true once, for all who wait. `threading.Event` does not do: Ctrl-C inside of its wait
/// can leave its lock unlocked, or locked.
class flag {
public:
  /// From any thread.
  void set() noexcept {
    if (!set_.exchange(true))
      announced_.announce();
  }
  bool is_set() const noexcept { return set_; }
  /// As of `announcement`.
  void wait() {
    announced_.wait();
    announced_.announce(); // to the next one
  }

private:
  std::atomic<bool> set_{false};
  announcement announced_;
};

/// Runs something that may block on a thread of its own and waits as above. What it throws is
/// thrown here. `work` must own what it uses: after a signal it goes on, and nobody waits for it.
void run_interruptibly(std::function<void()> work);

/// A value that a thread makes, and the caller waits for. A signal requests the thread's stop.
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

/// Of Python's seconds.
inline duration seconds(double x) {
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>{x});
}

/// The interpreter is about to end. Threads that come out of waits from now on stay where they are,
/// but for the main one: with the GIL they would be unwound in the middle of things.
void leave() noexcept;
/// To be called before the GIL is taken again.
void stay_out_if_leaving() noexcept;

/// While it lives, the caller is without the GIL.
class without_gil {
public:
  ~without_gil() { stay_out_if_leaving(); }

private:
  nb::gil_scoped_release others_;
};

/// A thread of the engine in Python, with the GIL. The interpreter's exit waits for it: a thread
/// that wanted the GIL afterwards would be unwound in the middle of things.
class visit {
public:
  visit();
  ~visit();
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  /// False: the interpreter is about to end, and the GIL is not held.
  explicit operator bool() const noexcept { return lock_.has_value(); }
  /// From now on there are none.
  static void refuse() noexcept;
  static bool are_refused() noexcept;
  /// Waits for those that are there. @pre the GIL is not held
  static void await_all(std::chrono::steady_clock::time_point limit) noexcept;

private:
  std::optional<nb::gil_scoped_acquire> lock_;
};

/// An object that threads of the engine drop when they like. @pre the GIL is held
std::shared_ptr<nb::object> kept(nb::object x);

/// Throws if this is a forked child of a process that had already started threads of headrace,
/// which do not exist here. Counts as starting them otherwise.
void enter_threads();
/// Is this a forked child of a process that had started threads?
bool is_orphan() noexcept;
/// Never destroys `x`: what an orphan does with what needs threads to end.
template <class T>
void keep_for_ever(T x) noexcept {
  static_cast<void>(new (std::nothrow) T{std::move(x)});
}

} // namespace headrace::python
