#include "headrace/runtime/supervision/supervisor.hpp"

#include "headrace/runtime/message/types.hpp"

#include <string_view>
#include <unordered_set>

namespace headrace::detail {

supervisor::supervisor(caf::scheduled_actor* self, port::watcher& watcher,
                       supervision_options options, observer observer,
                       std::shared_ptr<supervision_board> board)
  : self_(self),
    watcher_(watcher),
    core_(options),
    observer_(std::move(observer)),
    board_(std::move(board)),
    path_(options.path) {
  if (board_)
    board_->put(core_.snapshot());
}

supervisor::~supervisor() {
  for (auto& [id, x] : lives_)
    if (x.actor) {
      watcher_.forget(x.watch);
      port::ask_to_exit(x.actor);
    }
  if (board_)
    board_->erase(path_);
}

// -- from the owner -----------------------------------------------------------------

status supervisor::add(child_spec spec, start_child start) {
  auto id = spec.id;
  auto decided = core_.add(std::move(spec), now());
  HEADRACE_TRY(decided.status());
  auto& x = lives_[id];
  x.start = std::move(start);
  carry_out(*std::move(decided));
  return {};
}

void supervisor::remove(const std::string& id) { carry_out(core_.remove(id, now())); }

void supervisor::stop(std::function<void()> done) {
  if (core_.over())
    return done();
  done_ = std::move(done);
  carry_out(core_.stop(now()));
}

void supervisor::stop_before_owner(std::function<void(std::function<void()> stop)> first) {
  self_->set_exit_handler([this, first = std::move(first)](caf::exit_msg& asked) {
    if (owner_ends_ && !core_.over() && !waits_for_first_)
      return;
    owner_ends_ = true;
    waits_for_first_ = static_cast<bool>(first);
    auto go_on = [this, why = asked.reason] {
      waits_for_first_ = false;
      stop([this, why] { self_->quit(why); });
    };
    first ? first(std::move(go_on)) : go_on();
  });
}

void supervisor::timer(uint64_t epoch) { carry_out(core_.timer(epoch, now())); }

caf::actor supervisor::find(const std::string& id) const {
  auto at = lives_.find(id);
  return at != lives_.end() ? at->second.actor : caf::actor{};
}

// -- from the children ---------------------------------------------------------------

void supervisor::on_down(const std::string& id, uint64_t run, const status& why) {
  if (auto* x = running(id, run)) {
    x->actor = nullptr;
    x->watch = 0;
  }
  if (observer_.ended)
    observer_.ended(id, why);
  carry_out(core_.exited(id, run, why, now()));
}

supervisor::life* supervisor::running(const std::string& id, uint64_t run) {
  auto at = lives_.find(id);
  return at != lives_.end() && at->second.run == run && at->second.actor ? &at->second : nullptr;
}

// -- commands of the core ----------------------------------------------------------------

time_point supervisor::now() const { return self_->clock().now(); }

void supervisor::carry_out(supervise::commands commands) {
  for (auto& x : commands) pending_.push_back(std::move(x));
  // A failed start, or an observer that adds a child, calls this function inside the loop below,
  // which carries out the commands of that call, too.
  if (busy_)
    return;
  busy_ = true;
  while (!pending_.empty()) {
    auto next = std::move(pending_.front());
    pending_.pop_front();
    std::visit([this](const auto& x) { carry_out(x); }, next);
  }
  busy_ = false;
  // When a supervisor stops, maybe thousands of children end one by one. No snapshot is made for
  // each of these ends.
  if (core_.stopping() && !core_.over())
    return;
  auto seen = core_.snapshot();
  std::unordered_set<std::string_view> there;
  for (const auto& x : seen.children) there.insert(x.id);
  std::erase_if(
    lives_, [&](const auto& entry) { return !entry.second.actor && !there.contains(entry.first); });
  if (board_)
    board_->put(std::move(seen));
}

void supervisor::carry_out(const supervise::start& x) {
  auto at = lives_.find(x.id);
  if (at == lives_.end())
    return;
  auto& child = at->second;
  child.run = x.run;
  auto started = [&]() -> result<caf::actor> {
    try {
      return child.start(x.run);
    } catch (const std::exception& e) {
      return internal_error(std::string{"start threw: "} + e.what());
    }
  }();
  if (!started || !*started) {
    auto why = started ? internal_error("start gave no actor") : started.status();
    return on_down(x.id, x.run, why);
  }
  child.actor = *started;
  child.watch = watcher_.watch(child.actor, [this, id = x.id, run = x.run](const caf::error& why) {
    // A child that ended as requested has not failed.
    auto asked = port::is(why, caf::exit_reason::user_shutdown);
    on_down(id, run, asked ? status{} : to_status(why));
  });
  if (observer_.started)
    observer_.started(x.id, *started);
}

void supervisor::carry_out(const supervise::stop& x) {
  if (auto* child = running(x.id, x.run))
    port::ask_to_exit(child->actor);
}

void supervisor::carry_out(const supervise::kill& x) {
  if (auto* child = running(x.id, x.run))
    port::ask_to_exit(child->actor, caf::exit_reason::kill);
}

void supervisor::carry_out(const supervise::abandon& x) {
  if (auto* child = running(x.id, x.run)) {
    watcher_.forget(child->watch);
    child->actor = nullptr;
  }
}

void supervisor::carry_out(const supervise::schedule& x) {
  port::remind(self_, std::max(x.at - now(), duration{0}), atom::supervise_v, x.epoch);
}

void supervisor::carry_out(const supervise::drop& x) {
  if (observer_.dropped)
    observer_.dropped(x.id, x.why);
}

void supervisor::carry_out(const supervise::stopped&) {
  if (auto done = std::exchange(done_, nullptr))
    done();
}

void supervisor::carry_out(const supervise::give_up& x) {
  if (observer_.gave_up)
    observer_.gave_up(x.why);
  else
    self_->quit(to_error(x.why));
  // A stop that waited for the children is complete.
  if (auto done = std::exchange(done_, nullptr))
    done();
}

} // namespace headrace::detail
