#pragma once

#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/store/fact_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail::test {

inline worker_info worker(uint64_t id, uint64_t life = 1) {
  return {worker_id{id}, incarnation{life}, "host:" + std::to_string(id), {}, {}, 0};
}

inline split_plan one_source(uint64_t splits) {
  split_plan out;
  out.sources = {{.splits = splits}};
  out.groups = 1;
  return out;
}

/// The commands of a job's core after an event, by kind.
struct job_outcome {
  std::vector<job_record::fact> stored;
  std::map<request_token, decltype(job_command::answer::what)> answers;
  std::vector<job_command::start_task> starts;
  std::vector<job_command::stop_task> stops;
  std::vector<job_command::name_readers> named;
  std::vector<job_command::announce> news;
  std::vector<log_line> lines;
  bool ended = false;

  /// The only answer.
  const auto& answer() const { return answers.begin()->second; }
  const iteration_view& view() const { return std::get<iteration_view>(answer()); }
  const status& how() const { return std::get<status>(answer()); }
};

/// A job's core with a store. It passes events to the core and sorts the commands.
class driven_job {
public:
  driven_job(sharding_policy policy, uint64_t splits, std::vector<worker_info> present = {})
    : driven_job(policy, one_source(splits), std::move(present)) {}
  driven_job(sharding_policy policy, const split_plan& plan, std::vector<worker_info> present = {})
    : driven_job({.id = job_id{1},
                  .name = "train",
                  .policy = policy,
                  .plan = plan,
                  .timing = {std::chrono::seconds{1}, std::chrono::seconds{5}},
                  .terms = {.client_timeout = std::chrono::seconds{5}}},
                 std::move(present)) {}
  driven_job(const job_description& about, std::vector<worker_info> present)
    : store(empty(about), 100),
      writer(store.take_over().writer),
      core(about, empty(about), present, 42) {
    take(core.start(now));
  }
  static job_record empty(const job_description& about) {
    return {about.id,       about.policy,    about.plan,   about.past,
            about.shards(), about.guarantee, about.reads()};
  }
  /// Replaces the core by another one, which continues with the stored record.
  job_outcome restart(const std::vector<worker_info>& present) {
    groups_left_.reset();
    auto [next, record] = store.take_over();
    writer = next;
    core = job_core{core.about(), std::move(record), present, 43};
    return take(core.start(now));
  }

  job_outcome open(uint64_t consumer, uint64_t repetition = 0) {
    return take(
      core.open(next(), {.consumer = consumer_id{consumer}, .repetition = repetition}, now));
  }
  job_outcome open_at(uint64_t place, uint64_t consumer) {
    return take(core.open(next(), {.consumer = consumer_id{consumer}, .place = place}, now));
  }
  job_outcome open_from(uint64_t node, uint64_t consumer) {
    return take(core.open(next(), {.consumer = consumer_id{consumer}, .node = node}, now));
  }
  /// In coordinated reads: the consumer takes the seat `index`. `rejoins`: even if another consumer
  /// has that seat.
  job_outcome open_seat(uint32_t index, uint64_t consumer, bool rejoins = false,
                        uint64_t place = 0) {
    return take(core.open(
      next(),
      {.consumer = consumer_id{consumer}, .place = place, .index = index, .rejoins = rejoins},
      now));
  }
  /// In coordinated reads: sends a heartbeat with the reader's progress.
  job_outcome beat_in_rounds(uint64_t consumer, const round_progress& where) {
    return take(
      core.heartbeat(next(), {.who = {consumer_id{consumer}, job_id{1}, 0}, .rounds = where}, now));
  }
  job_outcome beat(uint64_t consumer, uint64_t repetition = 0,
                   std::vector<split_receipt> receipts = {}) {
    return take(core.heartbeat(
      next(), {{consumer_id{consumer}, job_id{1}, repetition}, std::move(receipts)}, now));
  }
  /// Sends a heartbeat of a reader whose trainer waits for an element.
  job_outcome beat_waiting(uint64_t consumer, uint64_t repetition = 0) {
    return take(core.heartbeat(
      next(), {.who = {consumer_id{consumer}, job_id{1}, repetition}, .waits = true}, now));
  }
  /// Sends a heartbeat that reports, for tasks that are over, how many elements were handed out.
  job_outcome beat_at(uint64_t consumer, std::map<task_id, uint64_t> marks) {
    return take(
      core.heartbeat(next(), {{consumer_id{consumer}, job_id{1}, 0}, {}, std::move(marks)}, now));
  }
  job_outcome leave(uint64_t consumer, uint64_t repetition = 0,
                    std::map<task_id, uint64_t> marks = {},
                    std::vector<split_receipt> receipts = {}) {
    return take(core.leave(
      next(),
      {{consumer_id{consumer}, job_id{1}, repetition}, std::move(marks), std::move(receipts)},
      now));
  }
  job_outcome came(const worker_info& who) { return take(core.worker_came(who, now)); }
  job_outcome lost(worker_id who) { return take(core.worker_lost(who, now)); }
  job_outcome started(const job_command::start_task& what, const status& how = {}) {
    return take(core.start_answered(what, how, now));
  }
  job_outcome not_started(const job_command::start_task& what) {
    return take(core.start_unanswered(what, now));
  }
  job_outcome stopped(const job_command::stop_task& what, bool answered) {
    return take(core.stop_answered(what, answered, now));
  }
  job_outcome served(const job_command::name_readers& what, bool answered) {
    return take(core.readers_answered(what, answered, now));
  }
  job_outcome ended(const task_order& what, const status& how = {}, bool by_itself = false,
                    std::vector<unread_splits> closed = {}) {
    return take(
      core.task_ended(next(),
                      {.id = what.id,
                       .life = what.life,
                       .made = {1},
                       .outcome = how.ok() ? task_outcome::exhausted : task_outcome::failed,
                       .failure = how,
                       .by_itself = by_itself,
                       .closed = std::move(closed)},
                      now));
  }
  job_outcome ended(const task_end& what) { return take(core.task_ended(next(), what, now)); }
  job_outcome left(const task_order& what, std::vector<unread_splits> unread = {}) {
    return take(core.task_ended(next(),
                                {.id = what.id,
                                 .life = what.life,
                                 .made = {1},
                                 .outcome = task_outcome::left,
                                 .unread = std::move(unread)},
                                now));
  }
  /// A task sends a question; `last_token` identifies it.
  job_outcome ask(const splits_request& what) {
    now += std::chrono::microseconds{10}; // the short time between two questions
    return take(core.lease(next(), what, now));
  }
  /// Sends a task's question. Returns the answer; nullopt: the job does not answer at once.
  std::optional<split_answer> ask(const task_order& task, const split_question& which) {
    const auto out = ask({.task = task.id, .life = task.life, .wish = {.which = which}});
    const auto at = out.answers.find(last_token);
    if (at == out.answers.end())
      return {};
    return std::get<lease_answer>(at->second).first;
  }
  /// Advances the time, and calls the core's timer whenever it is due, until the job ends.
  job_outcome pass(duration by) {
    job_outcome out;
    const auto end = now + by;
    for (auto next = core.next_deadline(); next && *next <= end; next = core.next_deadline()) {
      now = std::max(now, *next);
      take(core.timer(now), out);
      if (out.ended)
        break;
    }
    now = end;
    return out;
  }

  /// Adds to `out` the announcements that the job makes in the next millisecond. One announcement
  /// may contain several changes.
  job_outcome announced(job_outcome out) {
    const auto later = pass(std::chrono::milliseconds{1});
    out.news.insert(out.news.end(), later.news.begin(), later.news.end());
    return out;
  }

  const iteration& state(uint64_t repetition = 0) const {
    return core.record().repetitions().at(repetition).state;
  }
  bool begun(uint64_t repetition = 0) const {
    return core.record().repetitions().contains(repetition);
  }

  /// Kills the process after this many further groups of facts: later groups are not stored.
  void dies_after(size_t groups) { groups_left_ = groups; }

  time_point now{};
  request_token last_token{};
  memory_store<job_record> store;
  uint64_t writer;                   ///< identifies the core to the store
  std::vector<job_record::fact> all; ///< the facts that were stored
  job_core core;

private:
  request_token next() { return last_token = request_token{last_token.value + 1}; }
  job_outcome take(const job_commands& commands) {
    job_outcome out;
    take(commands, out);
    return out;
  }
  void take(const job_commands& commands, job_outcome& out) {
    struct {
      driven_job& job;
      job_outcome& out;
      void operator()(const job_command::store& x) {
        if (job.groups_left_ == size_t{0})
          return;
        if (job.groups_left_)
          --*job.groups_left_;
        ASSERT_TRUE(job.store.append(job.writer, x.facts, {})->ok());
        job.all.insert(job.all.end(), x.facts.begin(), x.facts.end());
        out.stored.insert(out.stored.end(), x.facts.begin(), x.facts.end());
      }
      void operator()(const job_command::answer& x) { out.answers.insert({x.to, x.what}); }
      void operator()(const job_command::start_task& x) { out.starts.push_back(x); }
      void operator()(const job_command::stop_task& x) { out.stops.push_back(x); }
      void operator()(const job_command::name_readers& x) { out.named.push_back(x); }
      void operator()(const job_command::announce& x) { out.news.push_back(x); }
      void operator()(const job_command::drop_reader&) {}
      void operator()(const job_command::log& x) { out.lines.push_back(x); }
      void operator()(const job_command::ended&) { out.ended = true; }
    } sort{*this, out};
    const auto groups = std::ranges::count_if(
      commands, [](const auto& x) { return std::holds_alternative<job_command::store>(x); });
    EXPECT_LE(groups, 1) << "after a crash, only a part of this event could be stored";
    for (const auto& x : commands) std::visit(sort, x);
  }
  std::optional<size_t> groups_left_;
};

} // namespace headrace::detail::test
