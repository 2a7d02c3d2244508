#include "headrace/actors/job/job_core.hpp"
#include "headrace/pipeline/iterator/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace headrace {

namespace {

/// Goodbyes of consumers that are no readers, which a task is told of: any number may come.
constexpr size_t most_strangers = 1024;

} // namespace

// Consumers: who reads which repetition, what they are told, and when nobody reads any more.

status job_core::not_a_reader(consumer_id who) const {
  return not_found(
    fmt::format("consumer {} is not a reader of job {} (any more)", who.value, about_.id.value));
}

job_core::repetition& job_core::begin(uint64_t number) {
  auto& all = record_.repetitions();
  if (!all.contains(number))
    commit({{number, job_record::begun{detail::mix(entropy_, number)}}});
  return all.at(number);
}

job_commands job_core::open(request_token request, const open_iteration& wanted, time_point now) {
  now_ = now;
  if (over_) {
    answer(request, unavailable(fmt::format("job {:x} has just ended", about_.id.value)));
    return finish();
  }
  // One that was a reader and is not any more was given up, and its rows went to others: it must
  // not read on as if nothing had happened.
  const auto known = record_.repetitions().find(wanted.repetition);
  const auto how = record_.ended_as(wanted.repetition);
  const bool reads = known != record_.repetitions().end()
                     && known->second.state.consumers().contains(wanted.consumer);
  if (wanted.job && !reads && (!how || how->ok())) {
    answer(request, not_a_reader(wanted.consumer));
    return finish();
  }
  if (how) {
    repetition past{iteration{about_.policy, wanted.repetition, 0}, split_assigner{{}},
                    lease_history{{}}};
    past.state.apply(iteration::finished_as{*how});
    auto view = view_of(past);
    view.version = std::numeric_limits<uint64_t>::max();
    answer(request, std::move(view));
    return finish();
  }
  auto& r = begin(wanted.repetition);
  if (const auto at = r.state.nodes().find(wanted.consumer);
      at != r.state.nodes().end() && at->second != wanted.node) {
    say(log_level::warn, "open refused",
        {{"consumer", to_string(wanted.consumer)}, {"why", "it reads from another node"}});
    auto why = fmt::format("consumer {:x} of job {:x} reads from another node: ids are not shared",
                           wanted.consumer.value, about_.id.value);
    answer(request, status{status_code::permission_denied, std::move(why)});
    return finish();
  }
  connected_[wanted.repetition].readers.insert(wanted.consumer);
  std::vector<worker_info> alive;
  for (const auto& [id, worker] : workers_) alive.push_back(worker);
  carry_out(r, r.state.consumer_joined(wanted.consumer, alive, wanted.node));
  readers_heard_.grant({wanted.repetition, wanted.consumer}, now);
  answer(request, view_of(r));
  return finish();
}

job_commands job_core::heartbeat(request_token request, const reader_heartbeat& what,
                                 time_point now) {
  now_ = now;
  const auto& who = what.who;
  if (!readers_heard_.renew({who.repetition, who.consumer}, now)) {
    answer(request, not_a_reader(who.consumer));
    return finish();
  }
  // After a restart it is not known how to reach it, nor what it has missed.
  if (connected_[who.repetition].readers.insert(who.consumer).second)
    announce(record_.repetitions().at(who.repetition));
  auto& r = record_.repetitions().at(who.repetition);
  for (const auto& receipt : what.receipts)
    if (r.leases.awaits(receipt.task, who.consumer)) {
      std::vector<job_record::fact> facts{
        {who.repetition, lease_history::fact{lease_history::received{who.consumer, receipt}}}};
      // A reader of its own job knows itself what it was given.
      if (!about_.name.empty())
        facts.push_back({who.repetition, held_rows::fact{held_rows::task_over{
                                           receipt.task, {{who.consumer, receipt.marks}}}}});
      commit(std::move(facts));
    }
  note_marks(r, who.consumer, what.handed_out);
  // One that brings nothing is a sign of life only.
  todo_.push_back(job_command::answer{
    .to = request,
    .what = status{},
    .at_once = what.receipts.empty() && what.handed_out.empty(),
  });
  return finish();
}

job_commands job_core::leave(request_token request, const leave_iteration& what, time_point now) {
  now_ = now;
  auto& all = record_.repetitions();
  const auto at = all.find(what.who.repetition);
  const bool reads = at != all.end() && at->second.state.consumers().contains(what.who.consumer);
  if (at != all.end()) {
    auto& r = at->second;
    for (const auto& [task, mark] : what.handed_out)
      if (const auto known = r.state.tasks().find(task);
          known != r.state.tasks().end() && known->second.alive()) {
        auto& departed = departed_[task];
        if (!reads && departed.size() >= most_strangers)
          continue;
        departed[what.who.consumer] = mark;
        readers_known_[task] = 0;
        // One that was given up may have come in time still: its tasks wait for its link.
        if (!reads)
          name_readers(r, known->second);
      }
    if (reads) {
      account_for(r, what);
      // What it names not it has handed out, all of it.
      auto marks = what.handed_out;
      for (auto id : r.held.tasks_of(what.who.consumer)) marks.try_emplace(id, UINT64_MAX);
      note_marks(r, what.who.consumer, marks);
    }
    remove(r, what.who.consumer);
  }
  end_if_unused();
  answer(request, reads ? status{} : not_a_reader(what.who.consumer));
  return finish();
}

void job_core::account_for(const repetition& r, const leave_iteration& what) {
  const auto number = r.state.repetition();
  const auto who = what.who.consumer;
  for (const auto& receipt : what.receipts)
    if (r.leases.has(receipt.task))
      commit({{number, lease_history::fact{lease_history::received{who, receipt}}}});
  // Of a task that it does not name it got nothing.
  for (const auto& [id, task] : r.state.tasks())
    if (r.leases.awaits(id, who))
      commit({{number, lease_history::fact{lease_history::received{who, {.task = id}}}}});
}

void job_core::remove(repetition& r, consumer_id who) {
  const auto number = r.state.repetition();
  auto& seen = connected_[number];
  seen.readers.erase(who);
  readers_heard_.release({number, who});
  todo_.push_back(job_command::drop_reader{{who, about_.id, number}});
  lose_held(r, who);
  carry_out(r, r.state.consumer_left(who));
  if (r.state.consumers().empty())
    seen.idle_since = now_;
}

bool job_core::is_read() const {
  return std::ranges::any_of(record_.repetitions(), [](const auto& entry) {
    return !entry.second.state.consumers().empty();
  });
}

void job_core::cancel_idle() {
  for (auto& [number, r] : record_.repetitions())
    if (r.state.consumers().empty() && !r.state.finished()
        && connected_[number].idle_since + about_.idle_job <= now_) {
      say(log_level::info, "repetition given up", {{"repetition", number}});
      carry_out(r, r.state.cancel(aborted(fmt::format(
                     "repetition {} of job '{}' was given up: nobody read it for {:.0f} s", number,
                     about_.name, std::chrono::duration<double>(about_.idle_job).count()))));
    }
}

void job_core::end_if_unused() {
  if (is_read())
    return;
  auto& all = record_.repetitions();
  if (all.empty() && now_ < began_ + about_.idle_job) // nobody has read yet
    return;
  const bool kept = !about_.name.empty() && std::ranges::any_of(all, [&](const auto& entry) {
    return connected_[entry.first].idle_since + about_.idle_job > now_;
  });
  if (kept)
    return;
  say(log_level::info, "job ended", {{"name", about_.name}});
  for (auto& [number, r] : all) carry_out(r, r.state.cancel());
  over_ = true;
}

iteration_view job_core::view_of(const repetition& r) const {
  const auto& state = r.state;
  iteration_view out{
    .job = about_.id,
    .repetition = state.repetition(),
    .version = state.version(),
    .finished = state.finished(),
    .shared = !about_.name.empty(),
    .failure = state.failure(),
    .timing = about_.timing,
    .held = r.held.tasks(),
    .losses = record_.losses_of(r),
  };
  for (const auto& [id, task] : state.tasks()) {
    const task_address at{id, task.life, task.worker.data_address, task.worker.boot_id,
                          task.worker.id};
    if (task.state == iteration::task_state::starting)
      out.starting.push_back(at);
    else if (task.state == iteration::task_state::running)
      out.tasks.push_back(at);
    else if (task.state == iteration::task_state::lost)
      out.lost.push_back(id);
  }
  return out;
}

void job_core::announce(const repetition& r) {
  const auto& readers = connected_[r.state.repetition()].readers;
  if (!readers.empty())
    todo_.push_back(job_command::announce{{readers.begin(), readers.end()}, view_of(r)});
}

} // namespace headrace
