#include "headrace/actors/consumer/consumer_core.hpp"

#include "headrace/actors/protocol/large_graph.hpp"

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
/// In one heartbeat: each may take some hundred kilobytes.
constexpr size_t most_receipts = 16;

} // namespace

consumer_core::consumer_core(consumer_options options, consumer_id id, std::string service,
                             std::shared_ptr<handout> out, logger log, time_point now)
  : options_(std::move(options)),
    id_(id),
    service_(std::move(service)),
    out_(std::move(out)),
    log_(std::move(log)),
    sends_graph_(options_.dataset && options_.dataset->graph.size() < large_graph),
    looked_at_(now),
    beat_at_(now + timing_.heartbeat),
    lease_until_(now),
    without_worker_since_(now),
    rows_came_at_(now) {}

// -- the dispatcher -------------------------------------------------------------------

consume::commands consumer_core::dispatcher_up(time_point now) {
  connected_ = true;
  unreachable_ = {};
  left_ ? say_goodbye() : ask_anew(now);
  return done();
}

consume::commands consumer_core::dispatcher_down(const status& why, time_point now) {
  connected_ = false;
  await_answer(now);
  unreachable_ = why;
  conclude();
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
  ask(now);
}

void consumer_core::ask(time_point now) {
  ask_at_.reset();
  if (!connected_ || left_)
    return; // asked when it is back
  asked_at_ = now;
  await_answer(now);
  auto dataset = options_.dataset;
  if (dataset && !sends_graph_)
    dataset->graph = {};
  then(consume::ask{++asks_,
                    {.consumer = id_,
                     .dataset_id = options_.dataset_id,
                     .dataset = std::move(dataset),
                     .job_name = options_.job_name,
                     .repetition = options_.repetition,
                     .policy = options_.mode,
                     .job = job_,
                     .node = options_.node}});
}

consume::commands consumer_core::answered(uint64_t number, const result<iteration_view>& what,
                                          time_point now) {
  if (number != asks_)
    return {};
  unanswered_since_.reset();
  if (what) {
    lease_until_ = std::max(lease_until_, asked_at_ + what->timing.lease);
    if (doubt_since_ && *doubt_since_ <= asked_at_)
      doubt_since_.reset();
    apply(*what, now);
  } else
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
  if (all_exhausted())
    return end();
  if (passes && now - asking_since_ < options_.worker_timeout) {
    ask_at_ = now + ask_pause_;
    ask_pause_ = std::min(ask_pause_ * 2, longest_ask_pause);
    return;
  }
  if (known_)
    return give_up_all(not_a_reader(why));
  if (why.code() == status_code::not_found && options_.dataset && !sends_graph_) {
    sends_graph_ = true;
    return ask(now);
  }
  fail(why);
}

status consumer_core::not_a_reader(const status& why) const {
  if (why.code() != status_code::not_found)
    return why;
  return aborted(fmt::format(
    "this consumer was not heard of at the dispatcher for its lease of {:.1f} s, or the dispatcher "
    "came back without its state: its job does not know it any more ({})",
    std::chrono::duration<double>(timing_.lease).count(), why.message()));
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
  options_.dataset.reset(); // its job has it
  job_ = state.job;
  version_ = state.version;
  shared_ = state.shared;
  timing_ = state.timing;
  if (first) { // the lease may be shorter than the heartbeat that was meant before
    beat_at_ = now + timing_.heartbeat;
    looked_at_ = now;
    if (shared_) // the process may be stopped before its first heartbeat
      out_->trust_until(now + trust());
  }
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
    s.outcome.reset();
    s.away_since = now;
    s.life = task.life;
    s.address = task.data_address;
    then(consume::make_link{s.address});
  }
  // What is not named any more has ended or is lost; what it sent stays.
  for (auto& [id, s] : streams_) {
    s.named = present.contains(id);
    s.ended |= !s.named;
  }
  for (auto id : state.lost)
    if (auto at = streams_.find(id); at != streams_.end())
      drop(id, at->second);
  account_for(state.lost);
  losses_ = state.losses;
  std::map<task_id, bool> held;
  for (auto id : state.held) held[id] = held_.contains(id) && held_.at(id);
  held_ = std::move(held);
  // The others wait for a reader, not for a worker.
  if (!held_.empty())
    without_worker_since_ = now;
  share_credit();
  told_everything_ = state.starting.empty();
  // Their streams are opened when they run; the links may stand by then.
  for (const auto& task : state.starting) then(consume::make_link{task.data_address});
  if (!present.empty())
    without_worker_since_ = now;
  finished_ = state.finished;
  fence(now);
  if (std::ranges::any_of(receipts_due_, [](const auto& x) { return !x.second; }))
    say_alive(now);
  look_at_held(now);
  conclude();
}

bool consumer_core::is_through(task_id task) const {
  if (!streams_.contains(task))
    return true; // forgotten, or it never had any
  const auto marks = out_->of(task);
  return marks.handed_out == marks.received;
}

void consumer_core::look_at_held(time_point now) {
  if (std::ranges::any_of(held_, [&](const auto& x) { return !x.second && is_through(x.first); }))
    say_alive(now);
}

void consumer_core::account_for(const std::vector<task_id>& lost) {
  if (options_.mode == sharding_policy::off)
    return;
  for (auto id : lost)
    if (accounted_.insert(id).second)
      receipts_due_[id] = std::nullopt;
}

consume::commands consumer_core::heartbeat_answered(const status& how, time_point at,
                                                    time_point now) {
  if (left_)
    return {};
  unanswered_since_.reset();
  if (how) {
    lease_until_ = std::max(lease_until_, at + timing_.lease);
    if (doubt_since_ && *doubt_since_ <= at)
      doubt_since_.reset();
    std::erase_if(receipts_due_, [&](const auto& entry) {
      if (!entry.second || *entry.second > at)
        return false;
      if (const auto of = streams_.find(entry.first); of != streams_.end())
        of->second.received.clear();
      return true;
    });
    fence(now);
  } else if (how.code() == status_code::unavailable) {
    // Whether the job is restarted, or has failed, is said to who asks for it.
    if (!finished_)
      ask_anew(now);
  } else if (all_exhausted()) {
    end(); // the job ended as its tasks did
  } else if (!finished_) {
    give_up_all(not_a_reader(how));
  }
  return done();
}

consume::commands consumer_core::heartbeat_unanswered(const status& why) {
  // A dispatcher or job that ends is none of our connection's fault.
  if (why.code() == status_code::deadline_exceeded)
    then(consume::renew_dispatcher{why});
  return done();
}

// -- the trainer ------------------------------------------------------------------------

consume::commands consumer_core::trainer_moved(time_point now) {
  refill(false);
  if (!held_.empty() && !left_)
    look_at_held(now);
  return done();
}

bool consumer_core::all_exhausted() const {
  // Others may be given what was lost with a task; and other readers of a shared job may have
  // opened tasks that this one never heard of.
  if (shared_ || !accounted_.empty())
    return false;
  // Only a task that read its sources to their end knows that they are; what one that left gave
  // back, or one that starts has for us, only the job knows.
  bool exhausted = forgot_exhausted_;
  for (const auto& [id, x] : streams_) {
    exhausted |= x.outcome == task_outcome::exhausted;
    if (!x.lost && x.outcome != task_outcome::exhausted)
      return false;
  }
  return known_ && told_everything_ && exhausted && !forgot_other_;
}

void consumer_core::conclude() {
  if (finished_ || (!connected_ && all_exhausted()))
    end();
}

void consumer_core::end() {
  if (left_ || failed_)
    return;
  ended_ = true;
  // What is here is nobody else's.
  out_->trust_until(time_point::max());
  out_->finish({}, describe(losses_, options_.mode));
}

void consumer_core::fail(const status& why) {
  if (left_)
    return;
  failed_ = true;
  // It reads why; what may be others' is held or gone.
  out_->trust_until(time_point::max());
  out_->finish(why);
}

// -- time -------------------------------------------------------------------------------

std::optional<time_point> consumer_core::next_deadline() const {
  if (left_)
    return goodbye_deadline();
  auto next = beat_at_;
  if (ask_at_)
    next = std::min(next, *ask_at_);
  for (const auto& [id, s] : streams_) {
    if (s.retry_at)
      next = std::min(next, *s.retry_at);
    if (shared_ && !(s.open && s.served) && !s.ended && !s.held)
      next = std::min(next, lease_until_ - timing_.lease + trust());
  }
  return next;
}

consume::commands consumer_core::timer(time_point now) {
  if (left_)
    return look_at_goodbye(now);
  if (ask_at_ && *ask_at_ <= now)
    ask(now);
  for (auto& [id, s] : streams_)
    if (s.retry_at && *s.retry_at <= now) {
      s.retry_at.reset();
      if (!s.open)
        then(consume::make_link{s.address});
    }
  look_if_stopped(now);
  fence(now);
  if (shared_ && !over())
    out_->trust_until(now + trust());
  if (beat_at_ <= now)
    beat(now);
  return done();
}

void consumer_core::look_if_stopped(time_point now) {
  // What the links bring first may have been sent before this reader was given up.
  if (shared_ && now - looked_at_ > trust()) {
    log_.warn("this process did not run for a while",
              {{"seconds", std::chrono::duration<double>(now - looked_at_).count()}});
    doubt_since_ = now;
    beat_at_ = now;
  }
  looked_at_ = now;
}

void consumer_core::beat(time_point now) {
  beat_at_ = now + timing_.heartbeat;
  forget_ended();
  const bool served = std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) {
    return entry.second.open && !entry.second.ended;
  });
  if (served || !held_.empty())
    without_worker_since_ = now;
  if (!out_->waiting())
    waiting_since_.reset();
  else if (!waiting_since_)
    waiting_since_ = now;
  if (auto how = overdue(now); !how)
    return fail(with_its_place(how, now));
  // The trainer may be in the midst of a block for long. What is not reported when this reader dies
  // or is given up comes again.
  if (shared_)
    refill(true);
  say_alive(now);
}

status consumer_core::with_its_place(const status& why, time_point now) const {
  if (!shared_ || !known_ || now < lease_until_)
    return why;
  return {why.code(),
          fmt::format("{} (this consumer was not heard of at the dispatcher for its lease of "
                      "{:.1f} s: its rows may have gone to other readers)",
                      why.message(), std::chrono::duration<double>(timing_.lease).count())};
}

void consumer_core::say_alive(time_point now) {
  if (!connected_ || !known_)
    return;
  await_answer(now);
  // Answers are told apart by their time.
  said_at_ = std::max(now, said_at_ + duration{1});
  consume::beat out{{{id_, job_, options_.repetition}, {}}, said_at_};
  for (auto& [id, said] : receipts_due_) {
    if (out.what.receipts.size() == most_receipts)
      break; // others go with the next one
    const auto of = streams_.find(id);
    out.what.receipts.push_back(of != streams_.end() ? of->second.received.receipt_of(id)
                                                     : split_receipt{.task = id});
    const auto marks = out_->of(id);
    out.what.receipts.back().marks = {marks.received, marks.handed_out};
    if (!said)
      said = said_at_;
  }
  for (auto& [id, through] : held_) {
    through = is_through(id);
    out.what.handed_out[id] = through ? UINT64_MAX : out_->of(id).handed_out;
  }
  then(std::move(out));
}

void consumer_core::await_answer(time_point now) {
  if (!unanswered_since_)
    unanswered_since_ = now;
}

status consumer_core::overdue(time_point now) const {
  if (over())
    return {};
  const auto limit = options_.worker_timeout;
  if (!known_ && now - without_worker_since_ >= limit)
    return unreachable_.ok() ? not_served() : unreachable_;
  // A trainer that is busy has what it needs.
  if (!waiting_since_)
    return {};
  if (now - std::max(without_worker_since_, *waiting_since_) >= limit)
    return not_served();
  const auto idle = now - std::max(rows_came_at_, *waiting_since_);
  const auto seconds = [](duration x) { return std::chrono::duration<double>(x).count(); };
  if (const auto silent = unanswered_since_ ? now - *unanswered_since_ : duration{0};
      silent >= limit && idle >= limit)
    return unavailable(fmt::format(
      "the dispatcher at {} has not answered for {:.0f} s{}{}, and the workers have given nothing "
      "meanwhile; start it again, or give `worker_timeout` more",
      service_, seconds(silent), unreachable_.ok() ? "" : ": ", unreachable_.message()));
  // What it waits for may be there alone, though others run.
  for (const auto& [id, s] : streams_)
    if (s.named && !s.ended && s.away_since && std::min(now - *s.away_since, idle) >= limit)
      return not_reached(s);
  if (idle >= options_.stall_timeout) {
    std::string where;
    for (const auto& [id, s] : streams_)
      if (s.open && !s.ended)
        where += fmt::format("{}task {} on the worker at {}", where.empty() ? "" : ", ",
                             to_string(id), s.address);
    return deadline_exceeded(fmt::format(
      "no element came for {:.0f} s though workers run the job ({}); if one element may "
      "take so long, give `stall_timeout` more",
      seconds(idle), where));
  }
  return {};
}

status consumer_core::not_reached(const stream& s) const {
  return unavailable(fmt::format(
    "cannot reach the worker's data port at {}, which it advertises, for {:.0f} s: {}; is it the "
    "address that trainers should use (`headrace worker --advertise`, `--advertise-data`)?",
    s.address, std::chrono::duration<double>(options_.worker_timeout).count(),
    s.unreached.message()));
}

status consumer_core::not_served() const {
  const auto seconds = std::chrono::duration<double>(options_.worker_timeout).count();
  for (const auto& [id, s] : streams_)
    if (!s.ended)
      return not_reached(s);
  return unavailable(fmt::format("no worker of the service at {} has served this job for {:.0f} s; "
                                 "start one with `headrace worker --dispatcher {}`, or give "
                                 "`worker_timeout` more",
                                 service_, seconds, service_));
}

} // namespace headrace
