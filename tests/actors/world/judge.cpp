#include "tests/actors/world/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace headrace::detail::test {

std::vector<std::vector<const trainer_process*>> judge::groups() const {
  std::vector<std::vector<const trainer_process*>> out;
  // If the dispatcher lost its state or a job collected a repetition, trainers with one job name
  // may have read different jobs, or a repetition before and after it began anew. Such trainers are
  // in different groups.
  std::map<std::tuple<job_id, uint64_t, uint64_t>, size_t> of_repetition;
  for (const auto& t : world_.trainers) {
    const auto& h = t.history();
    if (h.late)
      continue;
    const bool apart = excuses_.dispatcher_lost_state || !world_.collected.empty();
    const auto [at, fresh] = of_repetition.emplace(
      std::tuple{apart ? h.job : job_id{}, t.what().reads.repetition, h.collected}, out.size());
    if (fresh || anonymous())
      out.emplace_back();
    out[anonymous() ? out.size() - 1 : at->second].push_back(&t);
  }
  return out;
}

size_t judge::index_of(const trainer_process* who) const {
  return static_cast<size_t>(
    std::ranges::find(world_.trainers, who, [](const auto& t) { return &t; })
    - world_.trainers.begin());
}

void judge::every_wait_ended() {
  for (const auto& t : world_.trainers)
    if (t.alive() && !t.stopped() && !t.over())
      find("wait", fmt::format("{} still waits after {} elements", t.name(),
                               t.history().handed_out.size()));
}

std::vector<reading> judge::readings(const std::vector<const trainer_process*>& group) const {
  std::vector<reading> out;
  for (const auto* t : group) {
    const auto& h = t->history();
    const bool left_unheard =
      h.left && !h.goodbye_heard && excuses_.trainers_away.contains(index_of(t));
    out.push_back({.name = t->name(),
                   .handed_out = h.handed_out,
                   .handed_out_at = h.handed_out_at,
                   .ended = h.ended,
                   .remark = h.remark,
                   .over = t->over(),
                   .gone = h.killed || t->stopped() || left_unheard});
  }
  return out;
}

bool judge::read_again(int64_t element) const {
  const auto held = world_.leases.find(static_cast<uint64_t>(element) / world_.data.rows);
  if (held == world_.leases.end() || held->second.size() < 2)
    return false;
  const bool trainer_gone =
    !excuses_.trainers_away.empty() || std::ranges::any_of(world_.trainers, [](const auto& t) {
      return t.history().killed || t.history().left || t.stopped();
    });
  return trainer_gone || std::ranges::any_of(held->second, [&](auto id) {
           return world_.lost_tasks.contains(id);
         });
}

void judge::nothing_repeated() {
  for (const auto& group : groups()) {
    auto all = readings(group);
    if (!at_least_once()) {
      find(find_repetition(all));
      continue;
    }
    std::vector<std::vector<int64_t>> once(all.size()), once_at(all.size());
    std::map<int64_t, size_t> again;
    bool knows = false;
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t k = 0; k < all[i].handed_out.size(); ++k)
        if (const auto x = all[i].handed_out[k]; read_again(x)) {
          ++again[x];
        } else {
          once[i].push_back(x);
          if (k < all[i].handed_out_at.size())
            once_at[i].push_back(all[i].handed_out_at[k]);
        }
      knows |= !all[i].ended_well() || !all[i].remark.empty() || all[i].may_be_repeated();
      all[i].handed_out = once[i];
      all[i].handed_out_at = once_at[i];
    }
    find(find_repetition(all, 1, true));
    // Elements that were read again may come twice only if a trainer is gone, or read an error or a
    // remark.
    const auto twice = std::ranges::find_if(again, [](const auto& x) { return x.second > 1; });
    if (twice != again.end() && !knows)
      find("silent repeat",
           fmt::format("element {} was handed out twice, and nobody was told so", twice->first));
  }
}

std::vector<int64_t> judge::missing() const {
  std::set<int64_t> given;
  for (const auto& t : world_.trainers)
    given.insert(t.history().handed_out.begin(), t.history().handed_out.end());
  std::vector<int64_t> out;
  for (int64_t x = 0; x < static_cast<int64_t>(world_.data.elements()); ++x)
    if (!given.contains(x))
      out.push_back(x);
  return out;
}

void judge::what_is_over_was_read() {
  for (const auto& t : world_.trainers) {
    const auto& h = t.history();
    if (!h.late || !h.ended || !h.ended->ok())
      continue;
    if (!h.handed_out.empty())
      find("over", fmt::format("{} was given {} elements of what was over before", t.name(),
                               h.handed_out.size()));
    if (!world_.finished.contains(t.what().reads.repetition))
      find("over", fmt::format("{} was told that repetition {} is over, which nobody has read",
                               t.name(), t.what().reads.repetition));
  }
}

void judge::every_end_is_true() {
  for (const auto& group : groups()) {
    const bool clean = std::ranges::any_of(
      group, [](const auto* t) { return t->history().ended && t->history().ended->ok(); });
    if (!clean)
      continue;
    std::set<int64_t> given;
    bool unknown = false; // missing elements may have gone to a trainer that did not end well
    for (const auto* t : group) {
      given.insert(t->history().handed_out.begin(), t->history().handed_out.end());
      unknown |= t->history().killed || t->history().left || !t->over()
                 || (t->history().ended && !t->history().ended->ok());
    }
    if (is_static(world_.about.policy)) {
      every_shard_is_whole(given, unknown);
    } else if (dynamic()) {
      const auto sent = sent_to_the_gone();
      for (int64_t x = 0; x < static_cast<int64_t>(world_.data.elements()); ++x) {
        if (given.contains(x))
          continue;
        const auto split = static_cast<uint64_t>(x) / world_.data.rows;
        const auto held = world_.leases.find(split);
        if (at_least_once()) {
          find("end", fmt::format("the end came without element {}, though at_least_once was "
                                  "promised",
                                  x));
          break;
        }
        const bool lost =
          held != world_.leases.end() && std::ranges::any_of(held->second, [&](auto id) {
            return world_.lost_tasks.contains(id);
          });
        if (lost || (unknown && (world_.reached_a_trainer.contains(x) || sent.contains(x))))
          continue;
        find("end", fmt::format("the end came without element {}, which {}", x,
                                held == world_.leases.end() ? "nobody read" : "no lost task had"));
        break;
      }
    } else {
      // Under OFF, each worker that was present all the time must have given a whole copy.
      std::map<uint64_t, uint64_t> copies;
      for (auto x : given) ++copies[static_cast<uint64_t>(x) >> 32];
      const auto whole = static_cast<size_t>(std::ranges::count_if(
        copies, [&](const auto& c) { return c.second == world_.data.elements(); }));
      // If the dispatcher was away, a trainer may not have received the report that the repetition
      // is finished. Then the trainer can have read only from tasks that the job had named to it.
      std::set<std::string> expected;
      for (const auto* t : group) {
        const auto& h = t->history();
        const auto of_job = world_.workers_with_tasks.find({h.job, t->what().reads.repetition});
        const bool all = h.job_over && of_job != world_.workers_with_tasks.end();
        const auto& known = all ? of_job->second : h.named;
        expected.insert(known.begin(), known.end());
      }
      size_t steady = 0;
      for (size_t i = 0; i < world_.workers.size(); ++i)
        steady += !excuses_.workers_away.contains(i) && world_.workers[i].there_from_the_start()
                  && expected.contains(world_.workers[i].about().address);
      if (!unknown && whole < std::max<size_t>(steady, 1))
        find("end", fmt::format("the end came with {} whole copies; {} workers were there from "
                                "beginning to end",
                                whole, steady));
    }
  }
}

std::set<int64_t> judge::sent_to_the_gone() const {
  std::set<int64_t> out;
  for (const auto& [to, elements] : world_.sent_to) {
    const auto& h = to->history();
    if (h.killed || h.left || !to->over() || (h.ended && !h.ended->ok()))
      out.insert(elements.begin(), elements.end());
  }
  return out;
}

void judge::every_shard_is_whole(const std::set<int64_t>& given, bool unknown) {
  const auto shards = world_.about.shards;
  std::map<uint64_t, uint64_t> copies; // the number of elements that each task gave
  for (auto x : given) {
    const auto copy = static_cast<uint64_t>(x) >> 32;
    const auto number = static_cast<uint64_t>(x) & 0xffffffff;
    ++copies[copy];
    const auto known = world_.shard_readings.find(copy);
    if (known == world_.shard_readings.end() || number % shards != known->second.shard)
      return find("shard",
                  fmt::format("element {} came from a task that has another shard", number));
  }
  for (uint32_t i = 0; i < shards; ++i) {
    const world_shard shard{shards, i};
    bool whole = shard.size(world_.data.elements()) == 0;
    size_t steady = 0;
    for (const auto& [copy, elements] : copies) {
      const auto& reading = world_.shard_readings.at(copy);
      if (reading.shard != i)
        continue;
      whole |= elements == shard.size(world_.data.elements());
      steady += !reading.gone;
    }
    if (!whole && !unknown)
      find("end", fmt::format("the end came, and nobody read all of shard {}", i));
    if (steady > 1)
      find("shard",
           fmt::format("shard {} was read {} times, by tasks that were never gone", i, steady));
  }
}

bool judge::died_together() const {
  const auto lease = world_.about.timing.lease;
  // A trainer is given up when others wait for elements, or after the client timeout.
  const auto given_up = std::max(lease, world_.about.jobs.client_timeout);
  return std::ranges::any_of(world_.trainers, [&](const auto& t) {
    const auto died = t.history().ended_at;
    return t.history().killed && std::ranges::any_of(world_.lost_tasks, [&](const auto& entry) {
             // If the trainer died first: after it is given up, a lease and a quarter may pass
             // before the task drops the trainer, and a cut may delay the task's report to the job
             // by nearly one more lease. If the task was lost first: a trainer that lives for two
             // leases longer has itself reported which rows of the task it received.
             const auto lost = entry.second;
             return lost < died + given_up + 4 * lease && died < lost + 2 * lease;
           });
  });
}

void judge::nothing_lost_with_who_leaves() {
  const bool all_kept = std::ranges::all_of(world_.trainers, [](const auto& t) {
    const auto& h = t.history();
    return (h.ended && h.ended->ok()) || (h.left && h.goodbye_heard);
  });
  const bool disturbed = !excuses_.trainers_away.empty() || !excuses_.workers_away.empty()
                         || excuses_.dispatcher_away || excuses_.dispatcher_lost_state
                         || excuses_.no_worker;
  if (!dynamic() || world_.data.rows != 1 || world_.about.mixed || disturbed || !all_kept
      || !world_.collected.empty())
    return;
  for (const auto& group : groups())
    if (std::ranges::any_of(group, [](const auto* t) { return t->history().ended.has_value(); })
        && group.size() == world_.trainers.size() && !missing().empty())
      find("left", fmt::format("{} elements are lost, though nobody was gone but readers that left "
                               "in order",
                               missing().size()));
}

void judge::little_lost() {
  if (!dynamic() || excuses_.dispatcher_lost_state || !excuses_.trainers_away.empty()
      || died_together())
    return;
  std::set<uint64_t> reached;
  for (auto x : world_.reached_a_trainer)
    reached.insert(static_cast<uint64_t>(x) / world_.data.rows);
  for (auto x : sent_to_the_gone()) reached.insert(static_cast<uint64_t>(x) / world_.data.rows);
  for (const auto& group : groups()) {
    const bool clean = std::ranges::any_of(
      group, [](const auto* t) { return t->history().ended && t->history().ended->ok(); });
    if (!clean || group.size() != world_.trainers.size())
      continue;
    for (auto x : missing())
      if (!reached.contains(static_cast<uint64_t>(x) / world_.data.rows)) {
        find("lost", fmt::format("element {} is lost, and no row of its split had reached a "
                                 "consumer",
                                 x));
        break;
      }
  }
}

void judge::no_loss_is_silent() {
  if (!dynamic() || excuses_.dispatcher_lost_state)
    return;
  for (const auto& group : groups())
    find(find_silent_loss(readings(group), world_.data.elements()));
}

void judge::every_error_is_excused() {
  for (size_t i = 0; i < world_.trainers.size(); ++i) {
    const auto& h = world_.trainers[i].history();
    if (!h.ended || h.ended->ok())
      continue;
    // A trainer that was out of reach for long may lack elements, so its error is excused.
    if (excuses_.trainers_away.contains(i) || excuses_.dispatcher_away
        || excuses_.dispatcher_lost_state)
      continue;
    // Under at_least_once the elements that a lost task did not report as done are read again. So a
    // trainer that was given every element may still need a worker.
    const bool read_again = excuses_.no_worker && at_least_once();
    if (anonymous() && dynamic() && !read_again && h.handed_out.size() == world_.data.elements()) {
      find("late error", fmt::format("{} was given every element, and then read: {}",
                                     world_.trainers[i].name(), to_string(*h.ended)));
      continue;
    }
    // An iteration that begins while the dispatcher cannot be reached gets an error.
    if (excuses_.no_worker || !h.began)
      continue;
    find("error", fmt::format("{} read: {}", world_.trainers[i].name(), to_string(*h.ended)));
  }
}

bool judge::keeps_what_nobody_reads() const {
  const auto& terms = world_.about.jobs;
  return !anonymous() && (!terms.gc_timeout || (dynamic() && !terms.gc_dynamic_sharding_jobs));
}

void judge::nothing_left_behind() {
  for (const auto& t : world_.trainers)
    if (t.alive() && !t.over())
      return; // a trainer may still need the job
  if (!world_.dispatcher.alive() || world_.dispatcher.stopped())
    return; // the message that would end a task cannot arrive
  if (keeps_what_nobody_reads())
    return;
  for (const auto& w : world_.workers)
    if (w.alive() && !w.stopped() && w.tasks() != 0 && !excuses_.cut_off_for_good.contains(&w))
      find("orphan", fmt::format("{} runs {} tasks that nobody needs", w.name(), w.tasks()));
}

void judge::credit_is_shared() {
  for (const auto& what : starving_) find("credit", what);
}

const std::vector<violation>& judge::all() {
  every_wait_ended();
  nothing_repeated();
  every_end_is_true();
  what_is_over_was_read();
  every_error_is_excused();
  nothing_left_behind();
  credit_is_shared();
  little_lost();
  nothing_lost_with_who_leaves();
  no_loss_is_silent();
  return found_;
}

} // namespace headrace::detail::test
