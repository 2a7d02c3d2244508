#include "headrace/actors/consumer/consumer_core.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace headrace::detail {

// This file has the heartbeats with their reports, and the time-outs.

namespace {

/// The most receipts in one heartbeat: each may take some hundred kilobytes.
constexpr size_t most_receipts = 16;

} // namespace

// -- heartbeats -------------------------------------------------------------------------

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
    // The answer to OpenIteration shows whether the job was restarted or has failed.
    if (!finished_)
      ask_anew(now);
  } else if (all_exhausted()) {
    end(); // the job has ended, and so have its tasks
  } else if (!finished_) {
    give_up_all(not_a_reader(how));
  }
  return done();
}

consume::commands consumer_core::heartbeat_unanswered(const status& why) {
  // Other codes mean that the receiving actor has ended, while the connection works.
  if (why.code() == status_code::deadline_exceeded)
    then(consume::renew_dispatcher{why});
  return done();
}

bool consumer_core::is_through(task_id task) const {
  const auto of = streams_.find(task);
  if (of == streams_.end())
    return true; // the stream was removed after all of its rows were handed out, or never existed
  const auto marks = out_->of(task);
  return of->second.in_use.handed_out(marks) == marks.received;
}

bool consumer_core::withholds_in_use() const {
  // The report about elements in use is delayed so that other readers get them if this trainer is
  // killed. But an anonymous job has one reader; in coordinated reads an element can go to one seat
  // only; and with a cache without `expected_trainers`, trainers may miss elements anyway.
  const auto& cache = options_.parameters.cross_trainer_cache;
  return shared_ && !in_rounds() && !(cache && cache->expected_trainers == 0);
}

void consumer_core::look_at_held(time_point now) {
  if (std::ranges::any_of(held_, [&](const auto& x) { return !x.second && is_through(x.first); }))
    say_alive(now);
}

void consumer_core::account_for(const std::vector<task_id>& lost) {
  if (options_.parameters.mode != sharding_policy::dynamic)
    return;
  for (auto id : lost)
    if (accounted_.insert(id).second)
      receipts_due_[id] = std::nullopt;
}

split_receipt consumer_core::receipt_of(task_id id, stream& s, size_t most_runs) {
  // In coordinated reads, rows of a lost task that not all consumers have received are dropped, so
  // the receipt names only splits of rows that were handed out.
  if (in_rounds())
    s.received.give_back(out_->of(id).handed_out);
  auto out = s.received.receipt_of(id, most_runs);
  // Rows that are given back in coordinated reads, or in a job with a cache whose trainers may skip
  // elements, go to no other reader.
  const auto& cache = options_.parameters.cross_trainer_cache;
  if (in_rounds() || (cache && cache->expected_trainers == 0))
    out.given_back = 0;
  return out;
}

// -- time -------------------------------------------------------------------------------

std::optional<time_point> consumer_core::next_deadline() const {
  if (left_)
    return goodbye_deadline();
  auto next = beat_at_;
  if (!known_ && !over())
    next = std::min(next, contact_.until());
  if (ask_at_)
    next = std::min(next, *ask_at_);
  for (const auto& [id, s] : streams_) {
    if (s.retry_at)
      next = std::min(next, *s.retry_at);
    if (shared_ && !(s.open && s.served) && !s.ended && !s.held)
      next = std::min(next, lease_until_ - timing_.lease + trust());
    if (const auto until = s.in_use.deadline())
      next = std::min(next, *until);
  }
  return next;
}

consume::commands consumer_core::timer(time_point now) {
  if (left_)
    return look_at_goodbye(now);
  if (!known_ && !over() && contact_.until() <= now)
    fail(contact_.late());
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
  if (std::ranges::any_of(streams_, [&](const auto& x) { return x.second.in_use.is_due(now); })) {
    refill(now);
    look_at_held(now);
  }
  if (beat_at_ <= now)
    beat(now);
  return done();
}

void consumer_core::look_if_stopped(time_point now) {
  const auto away = now - std::exchange(looked_at_, now);
  if (away <= trust())
    return;
  log_.warn("this process did not run for a while", {{"seconds", in_seconds(away)}});
  // The time during which the process was stopped does not count as waiting.
  const auto put_off = [&](time_point& since) { since = std::min(since + away, now); };
  put_off(without_worker_since_);
  put_off(rows_came_at_);
  if (waiting_since_)
    put_off(*waiting_since_);
  if (unserved_since_)
    put_off(*unserved_since_);
  if (unanswered_since_)
    put_off(*unanswered_since_);
  for (auto& [id, s] : streams_)
    if (s.away_since)
      put_off(*s.away_since);
  // Messages on links may have been sent before this consumer was given up, so they do not show
  // that it is still a reader.
  if (shared_) {
    doubt_since_ = now;
    beat_at_ = now;
  }
}

void consumer_core::beat(time_point now) {
  beat_at_ = now + timing_.heartbeat;
  forget_ended();
  const bool served = std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) {
    return entry.second.open && !entry.second.ended;
  });
  if (served || !held_.empty() || others_give())
    without_worker_since_ = now;
  if (!out_->waiting())
    waiting_since_.reset();
  else if (!waiting_since_)
    waiting_since_ = now;
  note_unserved(now);
  if (auto how = overdue(now); !how)
    // If all tasks have ended as exhausted, the trainer gets the end instead of the error.
    return all_exhausted() ? end() : fail(with_its_place(how, now));
  // Grants are sent with each heartbeat even if none is due, because the trainer may need a long
  // time for one block: if this reader is lost or given up, handed-out rows that were not reported
  // are dealt again or count as lost.
  if (shared_)
    refill(now, true);
  say_alive(now);
}

status consumer_core::with_its_place(const status& why, time_point now) const {
  if (!shared_ || !known_ || now < lease_until_)
    return why;
  return {why.code(),
          fmt::format("{} (this consumer was not heard of at the dispatcher for its lease of "
                      "{:.1f} s: its rows may have gone to other readers)",
                      why.message(), in_seconds(timing_.lease))};
}

void consumer_core::say_alive(time_point now) {
  if (!connected_ || !known_)
    return;
  await_answer(now);
  // The time of a heartbeat identifies its answer, so no two heartbeats have the same time.
  said_at_ = std::max(now, said_at_ + duration{1});
  consume::beat out{{{id_, job_, options_.repetition}, {}}, said_at_};
  // With a cache without `expected_trainers`, no reader holds rows that another one waits for.
  const auto& cache = options_.parameters.cross_trainer_cache;
  const bool others_hold = shared_ && !(cache && cache->expected_trainers == 0);
  out.what.waits = others_hold && waiting_since_
                   && now - std::max(rows_came_at_, *waiting_since_) >= timing_.heartbeat;
  if (in_rounds())
    out.what.rounds = round_progress{out_->rounds().round, waits_for_epoch_};
  out.what.pace = pace();
  size_t runs = 0;
  for (auto& [id, said] : receipts_due_) {
    if (out.what.receipts.size() == most_receipts || runs >= most_receipt_runs)
      break; // the remaining receipts go with the next heartbeat
    const auto of = streams_.find(id);
    out.what.receipts.push_back(of != streams_.end() ? receipt_of(id, of->second)
                                                     : split_receipt{.task = id});
    runs += out.what.receipts.back().reached.size();
    const auto marks = out_->of(id);
    out.what.receipts.back().marks = {marks.received, of != streams_.end()
                                                        ? of->second.in_use.handed_out(marks)
                                                        : marks.handed_out};
    if (!said)
      said = said_at_;
  }
  for (auto& [id, through] : held_) {
    through = is_through(id);
    out.what.handed_out[id] =
      through ? UINT64_MAX : streams_.at(id).in_use.handed_out(out_->of(id));
  }
  then(std::move(out));
}

reader_pace consumer_core::pace() const {
  const auto now = out_->paced();
  return {.elapsed = now.elapsed,
          .waited = now.waited,
          .elements = now.elements,
          .bytes = now.bytes,
          .name = in_rounds() ? fmt::format("consumer {}", options_.index) : options_.trainer,
          .host = options_.host};
}

void consumer_core::await_answer(time_point now) {
  if (!unanswered_since_)
    unanswered_since_ = now;
}

status consumer_core::overdue(time_point now) const {
  if (over())
    return {};
  const auto limit = options_.worker_timeout;
  // The time-outs are for trainers that lack elements.
  if (!waiting_since_)
    return {};
  if (now - std::max(without_worker_since_, *waiting_since_) >= limit)
    return not_served();
  HEADRACE_TRY(missing_consumers(now));
  const auto idle = now - std::max(rows_came_at_, *waiting_since_);
  if (const auto silent = unanswered_since_ ? now - *unanswered_since_ : duration{0};
      silent >= limit && idle >= limit)
    return unavailable(fmt::format(
      "the dispatcher at {} has not answered for {:.0f} s{}{}, and the workers have given nothing "
      "meanwhile; start it again, or give `worker_timeout` more",
      service_, in_seconds(silent), unreachable_.ok() ? "" : ": ", unreachable_.message()));
  // A task that does not serve this consumer is an error even if other tasks run: that task alone
  // may have the rows for which the trainer waits. A task that gave everything must be reachable,
  // too: the repetition is not finished before the task has received the reports that all its
  // elements were handed out. A stream that is `unplaced` has no link before all consumers have
  // come; if some do not come, the error is that of `missing_consumers`.
  for (const auto& [id, s] : streams_)
    if (s.named && !s.unplaced && (!s.ended || s.outcome) && s.away_since
        && std::min(now - *s.away_since, idle) >= limit)
      return not_reached(s);
  if (idle >= options_.stall_timeout) {
    std::string where;
    for (const auto& [id, s] : streams_)
      if (s.open && !s.ended)
        where += fmt::format("{}task {} on the worker at {}", where.empty() ? "" : ", ",
                             to_string(id), s.address);
    const auto& cache = options_.parameters.cross_trainer_cache;
    const auto others = cache && cache->expected_trainers != 0
                          ? fmt::format("; are there fewer than {} trainers (expected_trainers)?",
                                        cache->expected_trainers)
                          : std::string{};
    return deadline_exceeded(fmt::format(
      "no element came for {:.0f} s though workers run the job ({}){}; if one element may "
      "take so long, give `stall_timeout` more",
      in_seconds(idle), where, others));
  }
  return {};
}

void consumer_core::note_unserved(time_point now) {
  if (!unserved_since_) {
    unserved_reported_ = false;
    return;
  }
  if (now - *unserved_since_ < options_.worker_timeout || std::exchange(unserved_reported_, true))
    return;
  out_->remark(fmt::format(
    "no worker has come for {:.0f} s for {} of the worker_addresses of the service at {}: its part "
    "of the dataset is missing from what is read until one comes",
    in_seconds(now - *unserved_since_), fmt::join(unserved_, ", "), service_));
}

status consumer_core::not_reached(const stream& s) const {
  return unavailable(fmt::format(
    "cannot reach the worker's data port at {}, which it advertises, for {:.0f} s: {}; is it the "
    "address that trainers should use (`headrace worker --advertise`, `--advertise-data`)?",
    s.address, in_seconds(options_.worker_timeout), s.unreached.message()));
}

status consumer_core::not_served() const {
  const auto seconds = in_seconds(options_.worker_timeout);
  for (const auto& [id, s] : streams_)
    if (!s.ended)
      return not_reached(s);
  if (!unserved_.empty())
    return unavailable(fmt::format(
      "no worker has come for {:.0f} s for {} of the worker_addresses of the service at {}: its "
      "part of the dataset is not read; start it, or give `worker_timeout` more",
      seconds, fmt::join(unserved_, ", "), service_));
  if (view_.targets == target_workers::local)
    return failed_precondition(
      fmt::format("{} for {:.0f} s; start one there (`WorkerServer`, or a `worker_server` with "
                  "`serves_own_process`), or give `worker_timeout` more",
                  no_local_worker(), seconds));
  return unavailable(fmt::format("no worker of the service at {} has served this job for {:.0f} s; "
                                 "start one with `headrace worker --dispatcher {}`, or give "
                                 "`worker_timeout` more",
                                 service_, seconds, service_));
}

} // namespace headrace::detail
