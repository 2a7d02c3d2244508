#include "headrace/actors/consumer/consumer_core.hpp"

#include "headrace/actors/protocol/iteration_change.hpp"
#include "headrace/actors/protocol/large_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace headrace::detail {

// This file has OpenIteration, its answers and the end of the repetition. The heartbeats are in
// consumer_core_alive.cpp, the streams in consumer_core_streams.cpp.

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
    contact_(service_, "worker_timeout", options_.worker_timeout, now),
    sends_graph_(options_.dataset && options_.dataset->graph.size() < large_graph),
    looked_at_(now),
    beat_at_(now + timing_.heartbeat),
    lease_until_(now),
    without_worker_since_(now),
    rows_came_at_(now) {
  if (in_rounds())
    out_->take_in_rounds();
}

// -- the dispatcher -------------------------------------------------------------------

consume::commands consumer_core::dispatcher_up(time_point now) {
  connected_ = true;
  unreachable_ = {};
  contact_.reached();
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

consume::commands consumer_core::dispatcher_unreached(const status& why, time_point now) {
  unreachable_ = why;
  // Some failures, such as another version, are final at the first contact. Once the dispatcher has
  // answered, no failure is: the actor tries again until a time-out has passed.
  if (known_ || over())
    return done();
  if (const auto final = contact_.failed(why))
    fail(*final);
  else if (contact_.is_worth_a_word(now))
    log_.warn(contact_.word(), {{"why", why}});
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
    return; // unless the trainer has left, the request is sent when there is a connection again
  asked_at_ = now;
  asked_ = true;
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
                     .parameters = options_.parameters,
                     .job = job_,
                     .node = options_.node,
                     .place = options_.place,
                     .index = options_.index,
                     .rejoins = options_.rejoins}});
}

consume::commands consumer_core::answered(uint64_t number, const result<iteration_view>& what,
                                          time_point now) {
  if (number != asks_)
    return {};
  unanswered_since_.reset();
  asked_ = false;
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
  if (number == asks_) {
    asked_ = false;
    not_told(why, passes, now);
  }
  return done();
}

void consumer_core::not_told(const status& why, bool passes, time_point now) {
  // The remaining elements of a finished repetition come from its tasks, so the job's answer is not
  // needed.
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
  if (passes || why.code() == status_code::deadline_exceeded) {
    static_cast<void>(contact_.failed(why));
    return fail(contact_.late());
  }
  if (why.code() == status_code::not_found && options_.dataset && !sends_graph_) {
    sends_graph_ = true;
    return ask(now);
  }
  fail(why);
}

status consumer_core::not_a_reader(const status& why) const {
  if (why.code() != status_code::not_found)
    return why;
  if (in_rounds())
    return aborted(fmt::format(
      "this consumer's job does not know it any more: it was not heard of for its time-out, or for "
      "its lease of {:.1f} s while others waited, or another one came in its place (`rejoin`), or "
      "the dispatcher came back without its state ({})",
      in_seconds(timing_.lease), why.message()));
  return aborted(fmt::format(
    "this consumer was not heard of at the dispatcher for its lease of {:.1f} s while others "
    "waited, "
    "or for its time-out, or the dispatcher came back without its state: its job does not know it "
    "any more ({})",
    in_seconds(timing_.lease), why.message()));
}

consume::commands consumer_core::told(const iteration_view& what, time_point now) {
  if (auto whole = changed(view_, what))
    apply(*std::move(whole), now);
  else if (!asked_ && !ask_at_)
    ask_anew(now); // an earlier announcement was lost
  return done();
}

void consumer_core::apply(const iteration_view& state, time_point now) {
  if (left_)
    return;
  if (known_ && state.job != job_) {
    // Another job would give its elements from the first one on, so the iteration fails. If the
    // repetition is finished, no job is needed: the remaining elements come from its tasks.
    if (!finished_)
      fail(aborted(fmt::format("job {} is over: the dispatcher has begun job {} in its place",
                               to_string(job_), to_string(state.job))));
    return;
  }
  if (known_ && state.version < version_)
    return;
  const bool first = !std::exchange(known_, true);
  options_.dataset.reset(); // the job has a copy of the dataset now
  job_ = state.job;
  version_ = state.version;
  view_ = state;
  shared_ = state.shared;
  if (!first && state.timing.lease < timing_.lease)
    lease_until_ = std::min(lease_until_, now + state.timing.lease);
  timing_ = state.timing;
  // A dispatcher that was restarted may have a shorter lease.
  beat_at_ = std::min(beat_at_, now + timing_.heartbeat);
  if (first) {
    came_late_ = state.finished;
    over_elements_ = state.over_elements;
    lost_tasks_ = state.lost_tasks;
    looked_at_ = now;
    if (shared_) // the limit is set now: the process may be stopped before its first heartbeat
      out_->trust_until(now + trust());
  }
  if (!state.failure.ok())
    return fail(state.failure);
  if (auto how = reads_nothing(state); !how)
    return fail(how);
  std::set<task_id> present;
  for (const auto& task : state.tasks) {
    if (!reads(task))
      continue;
    present.insert(task.id);
    auto [at, fresh] = streams_.try_emplace(task.id);
    auto& s = at->second;
    if (fresh)
      s.in_use = elements_in_use{withholds_in_use()};
    if (!fresh && !std::exchange(s.lost, false))
      continue;
    s.ended = false;
    s.outcome.reset();
    s.away_since = now;
    s.life = task.life;
    s.address = task.data_address;
    s.unplaced = in_rounds();
    then(consume::make_link{s.address});
  }
  // A task that the view no longer names has ended or is lost; the rows received from it stay.
  for (auto& [id, s] : streams_) {
    s.named = present.contains(id);
    s.ended |= !s.named;
  }
  for (auto id : state.lost)
    if (auto at = streams_.find(id); at != streams_.end())
      drop(id, at->second);
  account_for(state.lost);
  if (!first && endless() && state.losses != losses_)
    if (auto what = describe(state.losses, options_.parameters.mode,
                             options_.parameters.cross_trainer_cache.has_value());
        !what.empty())
      out_->remark(std::move(what));
  losses_ = state.losses;
  over_before_ = state.over_before;
  empty_ = state.empty;
  std::map<task_id, bool> held;
  for (auto id : state.held) held[id] = held_.contains(id) && held_.at(id);
  held_ = std::move(held);
  // While the repetition waits for readers that hold rows, the lack of workers is no error.
  if (!held_.empty())
    without_worker_since_ = now;
  share_credit();
  unserved_ = state.unserved;
  if (unserved_.empty())
    unserved_since_.reset();
  else if (!unserved_since_)
    unserved_since_ = now;
  told_everything_ = state.starting.empty() && unserved_.empty();
  // Links are made in advance, for streams that are opened when the tasks run.
  for (const auto& task : state.starting)
    if (reads(task))
      then(consume::make_link{task.data_address});
  has_read_ |= !present.empty();
  if (!present.empty() || others_give())
    without_worker_since_ = now;
  finished_ = state.finished;
  fence(now);
  if (in_rounds())
    apply_rounds(state.rounds, now);
  if (std::ranges::any_of(receipts_due_, [](const auto& x) { return !x.second; }))
    say_alive(now);
  look_at_held(now);
  conclude();
}

bool consumer_core::reads(const task_address& task) const {
  return may_read(view_.targets, task.seat, options_.place);
}

status consumer_core::reads_nothing(const iteration_view& state) const {
  if (state.targets != target_workers::local || options_.beside_a_worker || state.finished)
    return {};
  return failed_precondition(no_local_worker());
}

std::string consumer_core::no_local_worker() const {
  const bool asked = options_.parameters.targets == target_workers::local;
  return fmt::format("{}, and no worker of this process is registered at the dispatcher at {}",
                     asked ? "target_workers is LOCAL"
                           : "target_workers AUTO is LOCAL under a static policy where the "
                             "dispatcher's deployment mode is COLOCATED",
                     service_);
}

bool consumer_core::others_give() const {
  // Tasks of other processes may have the remaining splits.
  return has_read_ && !view_.tasks.empty();
}

// -- the trainer ------------------------------------------------------------------------

consume::commands consumer_core::trainer_moved(time_point now) {
  refill(now);
  if (!held_.empty() && !left_)
    look_at_held(now);
  return done();
}

bool consumer_core::all_exhausted() const {
  // Only the job knows whether all was read if a task is lost (its splits may be leased again) or
  // the job is shared (other readers may have tasks of which this consumer was never informed).
  if (shared_ || !accounted_.empty())
    return false;
  // Only a task that ended as exhausted has found its sources exhausted. If a task has left, or one
  // is starting, only the job can decide whether something is left to read.
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
  // The repetition is finished, so no rows of this consumer can go to others.
  for (const auto& [id, s] : streams_) out_->own(id);
  out_->trust_until(time_point::max());
  auto remark = describe(losses_, options_.parameters.mode,
                         options_.parameters.cross_trainer_cache.has_value());
  if (skipped_ != skips_reported_)
    remark = (remark.empty() ? "" : remark + "; ") + skips();
  // A repetition that was finished before this iteration opened it gives nothing. The user gets a
  // remark about that only for repetition 0, because there it shows that the job name was used
  // before.
  const auto& cache = options_.parameters.cross_trainer_cache;
  const bool whole = cache && cache->expected_trainers != 0;
  if (over_before_ && options_.repetition == 0)
    remark =
      "this job was read to its end before this iteration began, and gives nothing more; give "
      "another job_name to read the dataset again";
  else if (came_late_ && whole)
    remark = fmt::format(
      "this pass was over when trainer '{}' came, or came again, so that it is given no more of "
      "its elements: with expected_trainers a pass ends once the trainers that are there have "
      "read it; give another job_name to read the dataset again",
      options_.trainer);
  else if (whole && (unread_of_others() != 0 || lost_tasks_ != 0))
    remark = (remark.empty() ? "" : remark + "; ") + missed_before();
  out_->finish({}, std::move(remark), empty_);
}

bool consumer_core::endless() const {
  const auto& cache = options_.parameters.cross_trainer_cache;
  return options_.endless || in_rounds() || (cache && cache->expected_trainers == 0);
}

uint64_t consumer_core::unread_of_others() const {
  // A task may have ended after the job named it and before its stream was opened: it is unread.
  bool unread = forgot_unread_;
  auto given = forgot_handed_out_;
  for (const auto& [id, s] : streams_) {
    unread |= s.ended && !s.outcome && !s.lost;
    given += out_->of(id).handed_out;
  }
  const auto rest = view_.over_elements - std::min(given, view_.over_elements);
  return unread ? std::max(over_elements_, rest) : over_elements_;
}

std::string consumer_core::missed_before() const {
  const auto several = [](uint64_t n, const char* one) {
    return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
  };
  std::string over, lost;
  if (const auto unread = unread_of_others(); unread != 0)
    over = fmt::format("workers had come to their end, with {}", several(unread, "element"));
  if (lost_tasks_ != 0)
    lost =
      fmt::format("{} {} lost", several(lost_tasks_, "worker"), lost_tasks_ == 1 ? "was" : "were");
  return fmt::format(
    "part of this pass was over when trainer '{}' came, or came again: {}{}{}. What of theirs an "
    "earlier iterator of the trainer had not been given is missing",
    options_.trainer, over, over.empty() || lost.empty() ? "" : ", and ", lost);
}

void consumer_core::fail(const status& why) {
  if (left_)
    return;
  failed_ = true;
  // The trainer gets the error after the rows that only it can have. Rows that may belong to other
  // readers are held back or recalled.
  out_->trust_until(time_point::max());
  out_->finish(why);
}

} // namespace headrace::detail
