#include "headrace/actors/job/job_core.hpp"

#include "headrace/actors/job/splits/shard_states.hpp"
#include "headrace/actors/protocol/iteration_change.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace headrace::detail {

namespace {

/// Goodbyes are kept until the task has acknowledged them. A goodbye of a consumer that is not a
/// reader is dropped if this many goodbyes are kept for the task.
constexpr size_t most_strangers = 1024;
/// The pause between two announcements is this duration times the number of the repetition's tasks,
/// up to `longest_pause`. With two tasks the pause is not noticeable, and a thousand workers that
/// start their tasks cause only a few announcements.
constexpr duration pause_for_a_task = std::chrono::microseconds{50};
constexpr duration longest_pause = std::chrono::milliseconds{50};

} // namespace

// The functions for consumers: which of them read which repetition, what they are sent, and what
// happens when no consumer reads any more.

void job_core::heard_of(uint64_t repetition, consumer_id who) {
  readers_heard_.grant({repetition, who}, now_);
  prompt_.grant({repetition, who}, now_);
}

status job_core::not_a_reader(consumer_id who, uint64_t repetition) const {
  if (record_.was_collected(repetition))
    return not_found(why_collected());
  return not_found(
    fmt::format("consumer {} is not a reader of job {} (any more)", who.value, about_.id.value));
}

job_core::repetition& job_core::begin(uint64_t number) {
  auto& all = record_.repetitions();
  if (!all.contains(number))
    commit({{number, job_record::begun{mix(mix(entropy_, number), begun_++)}}});
  return all.at(number);
}

job_commands job_core::open(request_token request, const open_iteration& wanted, time_point now) {
  now_ = now;
  if (over_) {
    answer(request, unavailable(fmt::format("job {:x} has just ended", about_.id.value)));
    return finish();
  }
  // A consumer that names the job was a reader. If it is no longer a reader, it was given up, and
  // its rows went to others: it must not continue.
  const auto known = record_.repetitions().find(wanted.repetition);
  const auto how = record_.ended_as(wanted.repetition);
  const bool reads = known != record_.repetitions().end()
                     && known->second.state.consumers().contains(wanted.consumer);
  if (wanted.job && !reads && (!how || how->ok())) {
    answer(request, not_a_reader(wanted.consumer, wanted.repetition));
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
  if (about_.num_consumers != 0 && !reads) {
    const auto& table = r.state.rounds();
    if (auto may = table.may_take(wanted.index, wanted.rejoins, about_.name); !may) {
      answer(request, std::move(may));
      return finish();
    }
    if (const auto before = table.who_has(wanted.index))
      give_up(wanted.repetition, *before, "another consumer comes in its place");
  }
  carry_out(
    r, r.state.consumer_joined(wanted.consumer, takers(), wanted.node, wanted.place, wanted.index));
  heard_of(wanted.repetition, wanted.consumer);
  leave_unread(r);
  now_places(r, wanted.consumer);
  answer(request, view_of(r));
  return finish();
}

job_commands job_core::heartbeat(request_token request, const reader_heartbeat& what,
                                 time_point now) {
  now_ = now;
  const auto& who = what.who;
  if (!readers_heard_.contains({who.repetition, who.consumer})) {
    answer(request, not_a_reader(who.consumer, who.repetition));
    return finish();
  }
  heard_of(who.repetition, who.consumer);
  // After a restart the job has neither the reader's handle nor the version of the view that the
  // reader has.
  if (!connected_[who.repetition].readers.contains(who.consumer)) {
    const auto& r = record_.repetitions().at(who.repetition);
    now_places(r, who.consumer);
    todo_.push_back(job_command::announce{{who.consumer}, view_of(r)});
  }
  auto& r = record_.repetitions().at(who.repetition);
  for (const auto& receipt : what.receipts)
    if (r.leases.awaits(receipt.task, who.consumer)) {
      std::vector<job_record::fact> facts{
        {who.repetition, lease_history::fact{lease_history::received{who.consumer, receipt}}}};
      // The rows that the reader holds are recorded, with two exceptions: an anonymous job has only
      // this reader, which has a complete record of what it received itself, and in coordinated
      // reads the consumers drop the rounds of a lost task that not all of them have received.
      if (!about_.name.empty() && about_.num_consumers == 0)
        facts.push_back({who.repetition, held_rows::fact{held_rows::task_over{
                                           receipt.task, {{who.consumer, receipt.marks}}}}});
      commit(std::move(facts));
    }
  note_marks(r, who.consumer, what.handed_out);
  if (what.rounds)
    note_rounds(r, who.consumer, *what.rounds);
  if (what.pace)
    connected_[who.repetition].paces[who.consumer].add(*what.pace);
  if (what.waits)
    give_up_silent(r);
  // An answer to a heartbeat without reports depends on no fact.
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
          known != r.state.tasks().end() && known->second.alive() && !r.state.finished()) {
        auto& departed = departed_[task];
        if (!reads && departed.size() >= most_strangers)
          continue;
        departed[what.who.consumer] = mark;
        readers_known_[task] = 0;
        // The goodbye of a consumer that was given up may still be in time: the tasks from which it
        // read wait for some time before they give its rows to others.
        if (!reads)
          name_readers(r, known->second);
      }
    if (reads) {
      if (about_.num_consumers != 0)
        note_rounds(r, what);
      account_for(r, what);
      // The reader has handed out all rows of the tasks that its report does not name.
      auto marks = what.handed_out;
      for (auto id : r.held.tasks_of(what.who.consumer)) marks.try_emplace(id, UINT64_MAX);
      note_marks(r, what.who.consumer, marks);
    }
    remove(r, what.who.consumer);
  }
  end_if_unused();
  answer(request, reads ? status{} : not_a_reader(what.who.consumer, what.who.repetition));
  return finish();
}

void job_core::account_for(const repetition& r, const leave_iteration& what) {
  const auto number = r.state.repetition();
  const auto who = what.who.consumer;
  // In coordinated reads, a reader that still waits for its first epoch was handed nothing.
  const bool reads = about_.num_consumers == 0 || r.state.rounds().takes_part(who);
  for (const auto& receipt : what.receipts)
    if (r.leases.has(receipt.task) && reads)
      commit({{number, lease_history::fact{lease_history::received{who, receipt}}}});
  // The reader has received no rows of the tasks that its report does not name.
  for (const auto& [id, task] : r.state.tasks())
    if (r.leases.awaits(id, who))
      commit({{number, lease_history::fact{lease_history::received{who, {.task = id}}}}});
}

void job_core::remove(repetition& r, consumer_id who, bool lost) {
  const auto number = r.state.repetition();
  auto& seen = connected_[number];
  seen.readers.erase(who);
  seen.places.erase(who);
  seen.paces.erase(who);
  readers_heard_.release({number, who});
  prompt_.release({number, who});
  todo_.push_back(job_command::drop_reader{{who, about_.id, number}});
  lose_held(r, who);
  const auto& rounds = r.state.rounds();
  const bool others = std::ranges::any_of(r.state.consumers(), [&](consumer_id other) {
    return other != who && rounds.takes_part(other);
  });
  const auto reached = std::max(seen.round, rounds.epoch().first_round);
  carry_out(r, r.state.consumer_left(who, absence_of(r, who, lost), others ? 0 : reached));
  seen.rounds.erase(who);
  leave_unread(r);
  if (r.state.consumers().empty())
    seen.idle_since = now_;
}

void job_core::leave_unread(repetition& r) {
  const auto unread = r.state.unread_tasks();
  if (unread.empty())
    return;
  auto rest = rest_of(r);
  rest.unsettled |= std::ranges::any_of(unread, [&](task_id id) { return r.leases.has(id); });
  carry_out(r, r.state.leave_unread(rest));
}

bool job_core::is_read() const {
  return std::ranges::any_of(record_.repetitions(), [](const auto& entry) {
    return !entry.second.state.consumers().empty();
  });
}

bool job_core::is_silent(const std::pair<uint64_t, consumer_id>& who) const {
  return readers_heard_.contains(who) && !prompt_.contains(who);
}

void job_core::give_up_silent(repetition& r) {
  const auto number = r.state.repetition();
  const auto readers = r.state.consumers();
  for (auto who : readers)
    if (is_silent({number, who}))
      give_up(number, who, "it was not heard of for the lease, and others wait");
}

void job_core::give_up(uint64_t number, consumer_id who, const char* why) {
  say(log_level::warn, "consumer lost", {{"consumer", to_string(who)}, {"why", why}});
  auto& r = record_.repetitions().at(number);
  if (r.leases.records() != 0)
    commit({{number, lease_history::fact{lease_history::unheard{who, r.state.version() + 1}}}});
  remove(r, who, true);
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
    .timing = reader_timing(about_.timing, about_.terms),
    .held = r.held.tasks(),
    .losses = record_.losses_of(r),
    .empty = state.empty(),
    .targets = about_.targets,
    .rounds = state.rounds().view(),
  };
  for (const auto& [id, task] : state.tasks()) {
    const task_address at{id,
                          task.life,
                          task.worker.data_address,
                          task.worker.boot_id,
                          task.worker.id,
                          seat_of(task.worker)};
    if (task.state == iteration::task_state::starting)
      out.starting.push_back(at);
    else if (task.state == iteration::task_state::running)
      out.tasks.push_back(at);
    else if (task.state == iteration::task_state::lost)
      out.lost.push_back(id);
    if (task.state == iteration::task_state::lost)
      out.lost_tasks += task.ran;
    else if (!task.alive())
      out.over_elements += task.made.elements;
  }
  const auto shards = states_of_shards(state.tasks(), about_.shards());
  for (auto i : state.wanted_shards())
    if (shards[i] == shard_state::unserved && !state.finished())
      out.unserved.push_back(about_.worker_addresses[i]);
  return out;
}

void job_core::now_places(const repetition& r, consumer_id who) {
  auto& known = connected_[r.state.repetition()];
  // This reader is being sent the present view. The next announcement contains only the changes
  // since the last announced view, so the present view must be announced first.
  if (!known.announced || known.announced->version != r.state.version())
    announce_now(r);
  known.readers.insert(who);
}

void job_core::announce(const repetition& r) {
  auto& known = connected_[r.state.repetition()];
  const auto pause =
    std::min(longest_pause, pause_for_a_task * static_cast<int64_t>(r.state.tasks().size()));
  if (known.announced && !r.state.finished() && now_ < known.announced_at + pause)
    known.announce_at = known.announced_at + pause;
  else
    announce_now(r);
}

void job_core::announce_now(const repetition& r) {
  auto& known = connected_[r.state.repetition()];
  auto view = view_of(r);
  if (!known.readers.empty())
    todo_.push_back(
      job_command::announce{{known.readers.begin(), known.readers.end()},
                            known.announced ? change_between(*known.announced, view) : view});
  known.announced = std::move(view);
  known.announced_at = now_;
  known.announce_at.reset();
}

void job_core::announce_what_is_due() {
  for (const auto& [number, known] : connected_)
    if (known.announce_at && *known.announce_at <= now_)
      if (const auto r = record_.repetitions().find(number); r != record_.repetitions().end())
        announce_now(r->second);
}

} // namespace headrace::detail
