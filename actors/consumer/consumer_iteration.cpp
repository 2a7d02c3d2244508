#include "headrace/actors/consumer/consumer_actor.hpp"
#include "headrace/actors/job/job_codec.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace headrace {

// What the dispatcher knows of the iteration: asked for, pushed, and kept alive.

namespace {

constexpr duration first_ask_pause = std::chrono::milliseconds{5};
constexpr duration longest_ask_pause = std::chrono::milliseconds{500};

} // namespace

void consumer_state::ask_anew() {
  asking_since_ = now();
  ask_pause_ = first_ask_pause;
  ask();
}

void consumer_state::ask() {
  const auto* to = dispatcher_.get();
  if (to == nullptr || over_)
    return; // asked when it is back
  const auto number = ++asks_;
  const auto question = make_envelope(id_.value, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initOpenIteration();
    out.setConsumerId(id_.value);
    out.setDatasetId(options_.dataset_id);
    out.setJobName(options_.job_name);
    out.setRepetition(options_.repetition);
    out.setProcessingMode(to_schema(options_.mode));
    out.setJobId(job_.value);
  });
  port::request(self_, *to, options_.worker_timeout, question)
    .then(
      [this, number](const envelope& in) {
        if (number != asks_)
          return;
        const auto how = status_of(in);
        if (how)
          return apply(in->getDispatcher().getIteration());
        not_told(how, how.code() == status_code::unavailable);
      },
      [this, number](const caf::error& why) {
        // It ended while it had our question; what runs in its place does not know of it.
        if (const auto how = to_status(why); number == asks_)
          not_told(how, how.code() != status_code::deadline_exceeded);
      });
}

void consumer_state::not_told(const status& why, bool passes) {
  // What is left of a finished iteration is with the tasks.
  if (over_ || finished_)
    return;
  if (passes && now() - asking_since_ < options_.worker_timeout) {
    port::remind(self_, ask_pause_, make_local<consumer_event>(ask_again{asks_}));
    ask_pause_ = std::min(ask_pause_ * 2, longest_ask_pause);
    return;
  }
  fail(known_ ? why.with_context("the dispatcher does not have this job any more: it came back "
                                 "without a store, or heard nothing of us for its lease")
              : why);
}

void consumer_state::on(const ask_again& what) {
  if (what.number == asks_)
    ask();
}

void consumer_state::apply(schema::Iteration::Reader state) {
  if (over_)
    return;
  // Its elements would come from the beginning. What is left of a finished one is with the tasks.
  if (known_ && state.getJobId() != job_.value && finished_)
    return;
  if (known_ && state.getJobId() != job_.value)
    return fail(aborted(fmt::format("job {} is over: the dispatcher has begun job {} in its place",
                                    job_.value, state.getJobId())));
  if (known_ && state.getVersion() < version_)
    return;
  const bool first = !std::exchange(known_, true);
  job_ = job_id{state.getJobId()};
  version_ = state.getVersion();
  shared_ = state.getShared();
  timing_ = read_timing(state.getTiming());
  if (first) // the lease may be shorter than the heartbeat that was meant before
    port::remind(self_, timing_.heartbeat, atom::beat_v, ++beats_);
  if (state.getFailure().isFailed())
    return fail(read_failure(state.getFailure().getFailed()));
  std::set<task_id> present;
  for (auto task : state.getTasks()) {
    const task_id id{task.getTaskId()};
    present.insert(id);
    auto [at, fresh] = streams_.try_emplace(id);
    if (!fresh && !std::exchange(at->second.lost, false))
      continue;
    at->second.ended = false;
    at->second.life = incarnation{task.getIncarnation()};
    at->second.address = std::string{task.getDataAddress()};
    links_->want(at->second.address, consumer_handle{self_});
  }
  if (options_.max_outstanding > 0)
    for (auto& [id, s] : streams_)
      s.credit.bound(static_cast<uint64_t>(options_.max_outstanding) / streams_.size());
  // What is not told any more has ended or is lost; what it sent stays.
  for (auto& [id, s] : streams_)
    if (!present.contains(id))
      s.ended = true;
  for (auto id : state.getLost())
    if (auto at = streams_.find(task_id{id}); at != streams_.end())
      drop(at->second);
  if (!present.empty())
    without_worker_since_ = now();
  finished_ = state.getFinished();
  conclude();
}

void consumer_state::beat() {
  if (over_)
    return;
  port::remind(self_, timing_.heartbeat, atom::beat_v, beats_);
  const bool served = std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) {
    return entry.second.over && !entry.second.ended;
  });
  if (served)
    without_worker_since_ = now();
  else if (now() - without_worker_since_ >= options_.worker_timeout)
    return fail(not_served());
  const auto* to = dispatcher_.get();
  if (to == nullptr || !known_)
    return;
  const auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initConsumerHeartbeat();
    out.setConsumerId(id_.value);
    out.setJobId(job_.value);
    out.setRepetition(options_.repetition);
  });
  port::request(self_, *to, timing_.lease, say)
    .then(
      [this](const envelope& in) {
        const auto how = status_of(in);
        if (how || over_ || finished_)
          return;
        // Whether the job is restarted, or has failed, is told to who asks for it.
        how.code() == status_code::unavailable ? ask_anew() : fail(how);
      },
      [this](const caf::error& why) {
        // A dispatcher or job that ends is none of our connection's fault.
        if (const auto how = to_status(why); how.code() == status_code::deadline_exceeded)
          dispatcher_.renew(how);
      });
}

status consumer_state::not_served() const {
  const auto seconds = std::chrono::duration<double>(options_.worker_timeout).count();
  for (const auto& [id, s] : streams_)
    if (!s.ended)
      return unavailable(
        fmt::format("cannot reach the worker's data port at {}, which it advertises, "
                    "for {:.0f} s: {}; is it the address that trainers should use "
                    "(`headrace worker --advertise`, `--advertise-data`)?",
                    s.address, seconds, s.unreached.message()));
  const auto where = to_string(dispatcher_.where());
  return unavailable(fmt::format("no worker of the service at {} has served this job for {:.0f} s; "
                                 "start one with `headrace worker --dispatcher {}`, or give "
                                 "`worker_timeout` more",
                                 where, seconds, where));
}

} // namespace headrace
