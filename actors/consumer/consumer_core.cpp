#include "headrace/actors/consumer/consumer_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace headrace {

// What the dispatcher knows of the iteration: asked for, told, and kept alive. The streams are in
// consumer_core_streams.cpp.

namespace {

constexpr duration first_ask_pause = std::chrono::milliseconds{5};
constexpr duration longest_ask_pause = std::chrono::milliseconds{500};

} // namespace

consumer_core::consumer_core(consumer_options options, consumer_id id, std::string service,
                             std::shared_ptr<handout> out, logger log, time_point now)
  : options_(std::move(options)),
    id_(id),
    service_(std::move(service)),
    out_(std::move(out)),
    log_(std::move(log)),
    beat_at_(now + timing_.heartbeat),
    without_worker_since_(now) {}

// -- the dispatcher -------------------------------------------------------------------

consume::commands consumer_core::dispatcher_up(time_point now) {
  connected_ = true;
  unreachable_ = {};
  ask_anew(now);
  return done();
}

consume::commands consumer_core::dispatcher_down(const status& why) {
  connected_ = false;
  unreachable_ = why;
  return done();
}

consume::commands consumer_core::dispatcher_unreached(const status& why) {
  unreachable_ = why;
  // A first connection that fails is an error at once; a lost one may come back. So may one that
  // was accepted and did not greet in time.
  if (!known_ && why.code() != status_code::deadline_exceeded)
    fail(why);
  return done();
}

void consumer_core::ask_anew(time_point now) {
  asking_since_ = now;
  ask_pause_ = first_ask_pause;
  ask();
}

void consumer_core::ask() {
  ask_at_.reset();
  if (!connected_ || left_)
    return; // asked when it is back
  then(consume::ask{++asks_,
                    {.consumer = id_,
                     .dataset_id = options_.dataset_id,
                     .job_name = options_.job_name,
                     .repetition = options_.repetition,
                     .policy = options_.mode,
                     .job = job_}});
}

consume::commands consumer_core::answered(uint64_t number, const result<iteration_view>& what,
                                          time_point now) {
  if (number != asks_)
    return {};
  if (what)
    apply(*what, now);
  else
    not_told(what.status(), what.status().code() == status_code::unavailable, now);
  return done();
}

consume::commands consumer_core::unanswered(uint64_t number, const status& why, bool passes,
                                            time_point now) {
  if (number == asks_)
    not_told(why, passes, now);
  return done();
}

void consumer_core::not_told(const status& why, bool passes, time_point now) {
  // What is left of a finished iteration is with the tasks.
  if (left_ || finished_)
    return;
  if (passes && now - asking_since_ < options_.worker_timeout) {
    ask_at_ = now + ask_pause_;
    ask_pause_ = std::min(ask_pause_ * 2, longest_ask_pause);
    return;
  }
  fail(known_ ? why.with_context("the dispatcher does not have this job any more: it came back "
                                 "without a store, or heard nothing of us for its lease")
              : why);
}

consume::commands consumer_core::told(const iteration_view& what, time_point now) {
  apply(what, now);
  return done();
}

void consumer_core::apply(const iteration_view& state, time_point now) {
  if (left_)
    return;
  if (known_ && state.job != job_) {
    // Its elements would come from the beginning. What is left of a finished one is with the tasks.
    if (!finished_)
      fail(aborted(fmt::format("job {} is over: the dispatcher has begun job {} in its place",
                               to_string(job_), to_string(state.job))));
    return;
  }
  if (known_ && state.version < version_)
    return;
  const bool first = !std::exchange(known_, true);
  job_ = state.job;
  version_ = state.version;
  shared_ = state.shared;
  timing_ = state.timing;
  if (first) // the lease may be shorter than the heartbeat that was meant before
    beat_at_ = now + timing_.heartbeat;
  if (!state.failure.ok())
    return fail(state.failure);
  std::set<task_id> present;
  for (const auto& task : state.tasks) {
    present.insert(task.id);
    auto [at, fresh] = streams_.try_emplace(task.id);
    auto& s = at->second;
    if (!fresh && !std::exchange(s.lost, false))
      continue;
    s.ended = false;
    s.life = task.life;
    s.address = task.data_address;
    then(consume::make_link{s.address});
  }
  if (options_.max_outstanding > 0)
    for (auto& [id, s] : streams_)
      s.credit.bound(static_cast<uint64_t>(options_.max_outstanding) / streams_.size());
  // What is not named any more has ended or is lost; what it sent stays.
  for (auto& [id, s] : streams_)
    if (!present.contains(id))
      s.ended = true;
  for (auto id : state.lost)
    if (auto at = streams_.find(id); at != streams_.end())
      drop(id, at->second);
  if (!present.empty())
    without_worker_since_ = now;
  finished_ = state.finished;
  conclude();
}

consume::commands consumer_core::heartbeat_answered(const status& how, time_point now) {
  if (how || left_ || finished_)
    return {};
  // Whether the job is restarted, or has failed, is said to who asks for it.
  if (how.code() == status_code::unavailable)
    ask_anew(now);
  else
    fail(how);
  return done();
}

consume::commands consumer_core::heartbeat_unanswered(const status& why) {
  // A dispatcher or job that ends is none of our connection's fault.
  if (why.code() == status_code::deadline_exceeded)
    then(consume::renew_dispatcher{why});
  return done();
}

// -- the trainer ------------------------------------------------------------------------

consume::commands consumer_core::trainer_moved() {
  refill(false);
  return done();
}

consume::commands consumer_core::trainer_leaves() {
  if (connected_ && known_)
    then(consume::say_goodbye{{id_, job_, options_.repetition}});
  auto goodbye = done();
  std::ranges::move(close_streams(), std::back_inserter(goodbye));
  return goodbye;
}

consume::commands consumer_core::close_streams() {
  left_ = true;
  for (const auto& [id, s] : streams_)
    if (s.open) {
      // What the trainer has must not go to others.
      then(consume::send{id, stream_grant{.handed_out = out_->of(id).handed_out}});
      then(consume::send{id, stream_close{}});
      then(consume::close_stream{id});
    }
  return done();
}

void consumer_core::conclude() {
  if (left_)
    return;
  const bool all = !streams_.empty()
                   && std::all_of(streams_.begin(), streams_.end(),
                                  [](const auto& entry) { return entry.second.ended; });
  // Without its dispatcher a consumer believes its tasks.
  if (finished_ || (all && !connected_ && known_)) {
    ended_ = true;
    out_->finish({});
  }
}

void consumer_core::fail(const status& why) {
  if (left_)
    return;
  failed_ = true;
  out_->finish(why);
}

// -- time -------------------------------------------------------------------------------

std::optional<time_point> consumer_core::next_deadline() const {
  if (left_)
    return {};
  auto next = beat_at_;
  if (ask_at_)
    next = std::min(next, *ask_at_);
  for (const auto& [id, s] : streams_)
    if (s.retry_at)
      next = std::min(next, *s.retry_at);
  return next;
}

consume::commands consumer_core::timer(time_point now) {
  if (left_)
    return {};
  if (ask_at_ && *ask_at_ <= now)
    ask();
  for (auto& [id, s] : streams_)
    if (s.retry_at && *s.retry_at <= now) {
      s.retry_at.reset();
      if (!s.open)
        then(consume::make_link{s.address});
    }
  if (beat_at_ <= now)
    beat(now);
  return done();
}

void consumer_core::beat(time_point now) {
  beat_at_ = now + timing_.heartbeat;
  const bool served = std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) {
    return entry.second.open && !entry.second.ended;
  });
  if (served)
    without_worker_since_ = now;
  else if (now - without_worker_since_ >= options_.worker_timeout)
    return fail(not_served());
  if (connected_ && known_)
    then(consume::beat{{id_, job_, options_.repetition}});
}

status consumer_core::not_served() const {
  const auto seconds = std::chrono::duration<double>(options_.worker_timeout).count();
  for (const auto& [id, s] : streams_)
    if (!s.ended)
      return unavailable(
        fmt::format("cannot reach the worker's data port at {}, which it advertises, "
                    "for {:.0f} s: {}; is it the address that trainers should use "
                    "(`headrace worker --advertise`, `--advertise-data`)?",
                    s.address, seconds, s.unreached.message()));
  return unavailable(fmt::format("no worker of the service at {} has served this job for {:.0f} s; "
                                 "start one with `headrace worker --dispatcher {}`, or give "
                                 "`worker_timeout` more",
                                 service_, seconds, service_));
}

} // namespace headrace
