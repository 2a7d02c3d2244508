#include "headrace/actors/job/job_core.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headrace::detail {

job_core::job_core(job_description about, job_record record,
                   const std::vector<worker_info>& present, uint64_t entropy)
  : about_(std::move(about)),
    record_(std::move(record)),
    entropy_(entropy),
    readers_heard_(about_.terms.client_timeout),
    prompt_(reader_timing(about_.timing, about_.terms).lease) {
  for (const auto& worker : present) workers_.emplace(worker.id, worker);
}

job_commands job_core::start(time_point now) {
  now_ = began_ = now;
  if (record_.repetitions().empty())
    return {};
  missing_at_ = now + about_.timing.lease;
  const auto present = takers();
  for (auto& [number, r] : record_.repetitions()) {
    for (auto who : r.state.consumers()) heard_of(number, who);
    connected_[number].idle_since = now;
    // The earlier core may have ended before its orders to stop tasks were acknowledged.
    for (const auto& [id, worker] : workers_) stop_left_over(r, worker);
    if (r.state.finished())
      continue;
    for (const auto& [id, task] : r.state.tasks())
      // When the worker receives StartTask again, a running task repeats its unanswered questions.
      if (task.alive() && is_present(task.worker))
        start(r, task);
    // Workers may have registered or been lost while there was no core.
    lose_missing(r, true);
    leave_unread(r);
    carry_out(r, r.state.workers_present(present));
    // Earlier versions stored the facts of one event in several groups. The last ones, which
    // finish the repetition or start a task for returned splits, may be missing.
    carry_out(r, r.state.concluded(rest_of(r)));
  }
  end_if_unused();
  return finish();
}

// -- the end of each event ------------------------------------------------------------

namespace {

/// Joins the facts of all `store` commands in the first one, so that after a crash either all
/// effects of an event are stored or none. The commands after the first `store` wait for all facts.
void join_stores(job_commands& all) {
  const auto stores = [](const auto& x) { return std::holds_alternative<job_command::store>(x); };
  const auto first = std::ranges::find_if(all, stores);
  if (first == all.end())
    return;
  auto& facts = std::get<job_command::store>(*first).facts;
  for (auto at = std::next(first); at != all.end(); ++at)
    if (auto* more = std::get_if<job_command::store>(&*at))
      std::ranges::move(more->facts, std::back_inserter(facts));
  all.erase(std::remove_if(std::next(first), all.end(), stores), all.end());
}

} // namespace

job_commands job_core::finish() {
  for (auto& [number, r] : record_.repetitions()) {
    settle_losses(r);
    look_at_rounds(r);
    // Tasks that `look_at_rounds` replaced are lost. No receipts are due, so they are settled now.
    settle_losses(r);
  }
  const auto spent = record_.spent();
  commit(spent);
  for (const auto& one : spent) connected_.erase(one.repetition);
  if (over_)
    todo_.push_back(job_command::ended{});
  join_stores(todo_);
  return std::exchange(todo_, {});
}

void job_core::say(log_level level, std::string text,
                   std::vector<std::pair<std::string, log_line::value>> fields) {
  todo_.push_back(job_command::log{level, std::move(text), std::move(fields)});
}

void job_core::commit(std::vector<job_record::fact> facts) {
  if (facts.empty())
    return;
  for (const auto& x : facts) record_.apply(x);
  todo_.push_back(job_command::store{std::move(facts)});
}

void job_core::answer(request_token to, std::variant<status, iteration_view, lease_answer> what) {
  auto& made =
    std::get<job_command::answer>(todo_.emplace_back(std::in_place_type<job_command::answer>));
  made.to = to;
  made.what = std::move(what);
}

void job_core::carry_out(repetition& r, const iteration::decision& decided,
                         std::vector<job_record::fact> before) {
  const auto number = r.state.repetition();
  const auto& what = decided.todo;
  std::ranges::move(record_.facts_of(number, decided), std::back_inserter(before));
  std::vector<task_id> keepers;
  std::ranges::copy_if(what.forget, std::back_inserter(keepers),
                       [&](task_id id) { return r.splits.keeps_passes(id); });
  commit(std::move(before));
  for (auto id : keepers)
    if (const auto state = r.state.tasks().at(id).state;
        state == iteration::task_state::lost || state == iteration::task_state::left)
      say(log_level::warn, "all later passes lack what a task kept in memory: its worker is gone",
          {{"task", to_string(id)}, {"repetition", number}});
  for (auto id : what.forget) {
    drop_questions(number, id);
    forget_orders(id);
  }
  for (const auto& task : what.stop) {
    forget_orders(task.id);
    stop(task, "its job needs it no more");
  }
  for (const auto& task : what.start) start(r, task, what.eager);
  const bool others_read = std::ranges::any_of(decided.facts, [](const auto& x) {
    return std::holds_alternative<iteration::reader_joined>(x)
           || std::holds_alternative<iteration::reader_left>(x);
  });
  if (others_read && !r.state.finished())
    for (const auto& [id, task] : r.state.tasks())
      if (task.alive()
          && std::ranges::none_of(what.start, [&id = id](const auto& x) { return x.id == id; }))
        name_readers(r, task);
  if (what.announce)
    announce(r);
  settle(r);
}

// -- time -----------------------------------------------------------------------------

std::optional<time_point> job_core::next_deadline() const {
  if (over_)
    return {};
  std::optional<time_point> next = ends_at();
  const auto consider = [&](std::optional<time_point> at) {
    if (at)
      next = next ? std::min(*next, *at) : at;
  };
  for (const auto& [number, r] : record_.repetitions()) consider(collected_at(number, r));
  for (const auto& [number, known] : connected_) consider(known.announce_at);
  consider(readers_heard_.next_deadline());
  consider(prompt_.next_deadline());
  consider(missing_at_);
  consider(repeat_at_);
  return next;
}

job_commands job_core::timer(time_point now) {
  now_ = now;
  prompt_.advance(now);
  for (const auto& reader : readers_heard_.advance(now))
    give_up(reader.first, reader.second, "it was not heard of");
  lose_missing();
  announce_what_is_due();
  if (repeat_at_ && *repeat_at_ <= now) {
    repeat_at_.reset();
    repeat_orders({});
  }
  collect();
  end_if_unused();
  return finish();
}

} // namespace headrace::detail
