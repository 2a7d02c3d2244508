#include "headrace/actors/worker/worker_actor.hpp"

#include <fmt/format.h>

#include <utility>

namespace headrace {

// The worker's end, in order: what its tasks have begun reaches the consumers, the rest goes back
// to their jobs, and nobody waits for its lease.

namespace {

/// For the dispatcher to hear that we go.
constexpr duration goodbye_limit = std::chrono::milliseconds{200};

} // namespace

void worker_state::leave(std::function<void()> then) {
  leaving_ = std::move(then);
  if (options_.at_once->load() || dispatcher_.get() == nullptr)
    return gone();
  if (!tasks_.empty())
    log_.info("leaving", {{"tasks", tasks_.size()}});
  for (auto& [id, task] : tasks_)
    if (task.actor)
      port::tell(task.actor, make_local<task_event>(worker_leaves{}));
    else
      task.memory->core.leaves_between_actors();
  port::remind(self_, options_.drain, atom::deadline_v, uint64_t{0});
  look_if_left();
}

void worker_state::look_if_left() {
  if (leaving_ && tasks_.empty() && unheard_ends_.empty())
    say_goodbye();
}

void worker_state::leave_now() {
  if (!leaving_ || said_goodbye_)
    return;
  // What they have not given by now is lost; what they have not begun is not.
  for (const auto& [id, task] : tasks_) {
    log_.warn("what a task had begun is lost: it did not reach its consumers in time",
              {{"task", id},
               {"after", fmt::format("{} ms", options_.drain / std::chrono::milliseconds{1})}});
    router_->remove(id);
    on_report({.id = id,
               .life = task.about.life,
               .job = task.about.job,
               .numbers = task.numbers,
               .ended = status{}});
  }
  say_goodbye();
}

void worker_state::say_goodbye() {
  if (std::exchange(said_goodbye_, true))
    return;
  const auto* to = dispatcher_.get();
  if (to == nullptr)
    return gone();
  const auto bye = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initLeaveService();
    out.setWorkerId(id_.value);
    out.setIncarnation(life_.value);
  });
  port::request(self_, *to, goodbye_limit, bye)
    .then([this](const envelope&) { gone(); }, [this](const caf::error&) { gone(); });
}

void worker_state::gone() {
  if (auto then = std::exchange(leaving_, {}))
    then();
}

} // namespace headrace
