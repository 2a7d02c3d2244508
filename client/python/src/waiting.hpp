#pragma once

#include "python.hpp"

#include <semaphore.h>

#include <chrono>
#include <functional>

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

private:
  sem_t done_;
};

/// Runs something that may block on a thread of its own and waits as above. What it throws is
/// thrown here. `work` must own what it uses: after a signal it goes on, and nobody waits for it.
void run_interruptibly(std::function<void()> work);

/// The interpreter is about to end. Threads that come out of waits from now on stay where they are,
/// but for the main one: with the GIL they would be unwound in the middle of things.
void leave() noexcept;
bool leaving() noexcept;
/// To be called before the GIL is taken again.
void stay_out_if_leaving() noexcept;

/// Throws if this is a forked child of a process that had already started threads of headrace,
/// which do not exist here. Counts as starting them otherwise.
void enter_threads();
/// Is this a forked child of a process that had started threads?
bool is_orphan() noexcept;

} // namespace headrace::python
