#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/actors/task/runner.hpp"

namespace headrace::detail {

/// The actor by which a task supervises its runner. It lives until the runner's thread has ended,
/// and ends with an error only if the thread crashed. When it is requested to stop it ends at once,
/// without waiting for the thread.
class runner_state {
public:
  using handle_type = runner_handle;
  static inline const char* name = "headrace.runner";

  /// The runner gets the callbacks of `hear`, except that its `ended` also ends this actor, and its
  /// `crashed` ends this actor with the error.
  runner_state(port::self_pointer<handle_type> self, std::shared_ptr<runner> what,
               runner::callbacks hear)
    : self_(self), runner_(std::move(what)) {
    const handle_type me{self};
    hear.ended = [me, tell = std::move(hear.ended)](const status& how) {
      tell(how);
      port::tell(me, make_local<runner_over>(status{}));
    };
    hear.crashed = [me](const status& why) { port::tell(me, make_local<runner_over>(why)); };
    runner_->start(std::move(hear));
  }
  ~runner_state() { runner_->stop(); }

  port::behavior<handle_type> make_behavior() {
    return {[this](const local<runner_over>& what) { self_->quit(to_error(what->why)); }};
  }

private:
  port::self_pointer<handle_type> self_;
  std::shared_ptr<runner> runner_;
};

} // namespace headrace::detail
