#include "tests/actors/stream/stream_world.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::detail {

// Links, time, trainers and records of the world of streams.

// -- the network ------------------------------------------------------------------------------

void stream_world::connect(uint64_t id, size_t t) {
  auto& c = consumers.at(id);
  auto& p = c.pipes.at(t);
  if (!p.linking || p.cut_unseen)
    return;
  p.linking = false;
  const auto& x = tasks[t];
  if (p.refused || x.lost || x.away || x.over)
    return carry_out(id,
                     c.core->not_linked(std::to_string(t), unavailable("connection refused"), now));
  p.connected = true;
  carry_out(id, c.core->linked(std::to_string(t), now));
}

void stream_world::cut(uint64_t id, size_t t) {
  auto& p = consumers.at(id).pipes.at(t);
  if (!std::exchange(p.connected, false))
    return;
  p.cut_unseen = true;
  p.cut_at = now;
  p.up.clear();
  for (auto key : std::exchange(p.known, {}))
    if (!tasks[t].lost)
      carry_out(t, tasks[t].core->stream_cut(key, now));
}

void stream_world::notice(uint64_t id, size_t t) {
  auto& c = consumers.at(id);
  auto& p = c.pipes.at(t);
  p.cut_unseen = false;
  p.down.clear();
  if (std::exchange(p.key, {}))
    carry_out(id, c.core->stream_cut(id_of(t), unavailable("the connection was cut"), now));
}

bool stream_world::deliver_up(uint64_t id, size_t t) {
  auto& p = consumers.at(id).pipes.at(t);
  if (p.up.empty())
    return false;
  const auto [key, what] = std::move(p.up.front());
  p.up.pop_front();
  if (std::holds_alternative<stream_open>(what))
    p.known.insert(key);
  else if (!p.known.contains(key))
    return true; // a late message of a stream that has ended
  if (std::holds_alternative<stream_open>(what))
    p.counts = tasks[t].named.contains(id);
  uint64_t said = 0;
  if (const auto* open = std::get_if<stream_open>(&what)) {
    said = open->handed_out;
  } else if (const auto* grant = std::get_if<stream_grant>(&what)) {
    said = grant->handed_out;
    p.granted = *grant;
  }
  // A task that is over ignores reports, and so does this record. A report may be too high then: a
  // consumer that is given up after the stream's end reports all rows that its trainer may take.
  if (p.counts && !tasks[t].over)
    p.known_handed_out = std::max(p.known_handed_out, said);
  carry_out(t, tasks[t].core->arrived(key, what, now));
  note_beginnings(t);
  return true;
}

void stream_world::damage_up(uint64_t id, size_t t) {
  auto& p = consumers.at(id).pipes.at(t);
  if (p.up.empty() || !p.known.contains(p.up.front().first))
    return;
  const auto key = p.up.front().first;
  p.up.pop_front();
  carry_out(t, tasks[t].core->arrived(key, data_loss("bent"), now));
}

bool stream_world::deliver_down(uint64_t id, size_t t, bool damaged) {
  auto& c = consumers.at(id);
  auto& p = c.pipes.at(t);
  if (p.down.empty()) {
    if (p.cut_unseen)
      notice(id, t);
    return false;
  }
  auto [key, what] = std::move(p.down.front());
  p.down.pop_front();
  if (!p.key || key != p.key)
    return true; // a message of a stream that has ended
  if (damaged) {
    carry_out(id, c.core->arrived(id_of(t), data_loss("bent"), now));
    return true;
  }
  if (const auto* rows = std::get_if<stream_block>(&what)) {
    if (!c.core->over()) {
      EXPECT_LE(rows->first, c.out->of(id_of(t)).received) << "a gap";
    }
    for (auto x : rows->rows.columns[0].values<int64_t>()) p.got.insert(x);
  }
  carry_out(id, c.core->arrived(id_of(t), std::move(what), now));
  return true;
}

bool stream_world::deliver_news(uint64_t id) {
  auto& c = consumers.at(id);
  if (c.silent || c.news.empty())
    return false;
  const auto what = std::move(c.news.front());
  c.news.pop_front();
  carry_out(id, c.core->told(what, now));
  return true;
}

bool stream_world::acknowledge(size_t t) {
  auto& x = tasks[t];
  if (x.accounts.empty() || x.away || x.lost)
    return false;
  const auto which = x.accounts.front();
  x.accounts.pop_front();
  carry_out(t, x.core->splits_answered(which, lease_answer{}, now));
  return true;
}

bool stream_world::deliver_names(size_t t) {
  auto& x = tasks[t];
  if (x.names.empty() || x.away)
    return false;
  const auto what = std::move(x.names.front().second);
  x.names.pop_front();
  x.named.clear();
  for (auto who : what.consumers) {
    x.named.insert(who.value);
    if (const auto at = consumers.find(who.value); at != consumers.end())
      at->second.pipes.at(t).counts = true;
  }
  carry_out(t, x.core->readers_named(what, now));
  note_beginnings(t);
  return true;
}

// -- time ---------------------------------------------------------------------------------------

void stream_world::pass(duration by) {
  const auto end = now + by;
  for (int at_once = 0;;) {
    auto next = end;
    for (const auto& x : tasks)
      if (!x.lost && !x.over)
        next = std::min(next, x.core->next_deadline().value_or(end));
    for (const auto& [id, c] : consumers)
      next = std::min(next, c.core->next_deadline().value_or(end));
    for (const auto& [id, until] : readers_) next = std::min(next, until.value_or(end));
    at_once = next <= now ? at_once + 1 : 0;
    if (at_once > 1000)
      return void(ADD_FAILURE() << "a timer is due again and again at the same time");
    now = std::max(now, next);
    for (size_t t = 0; t < tasks.size(); ++t) deliver_room(t);
    for (size_t t = 0; t < tasks.size(); ++t) acknowledge(t);
    // The job's messages to tasks arrive, and consumers notice cut links, when a second has passed:
    // both happen before a lease ends.
    for (size_t t = 0; t < tasks.size(); ++t)
      while (!tasks[t].names.empty() && now - tasks[t].names.front().first > std::chrono::seconds{1}
             && deliver_names(t)) {
      }
    std::vector<uint64_t> ids, gone;
    for (const auto& [id, c] : consumers) ids.push_back(id);
    for (auto id : ids)
      for (auto& [t, p] : consumers.at(id).pipes)
        if (p.cut_unseen && now - p.cut_at > std::chrono::seconds{1})
          notice(id, t);
    for (const auto& [id, until] : readers_)
      if (until && *until <= now)
        gone.push_back(id);
    for (auto id : gone) {
      readers_.erase(id);
      name_readers();
    }
    for (size_t t = 0; t < tasks.size(); ++t)
      if (auto& x = tasks[t];
          !x.lost && !x.over && x.core->next_deadline().value_or(end + duration{1}) <= now)
        carry_out(t, x.core->timer(now));
    for (auto id : ids)
      if (auto& c = consumers.at(id); c.core->next_deadline().value_or(end + duration{1}) <= now)
        carry_out(id, c.core->timer(now));
    if (now >= end)
      return;
  }
}

size_t stream_world::settle(size_t most, duration for_long) {
  size_t n = 0;
  const auto until = now + for_long;
  for (bool moved = true; moved && n < most;) {
    moved = false;
    for (size_t t = 0; t < tasks.size(); ++t) {
      while (deliver_names(t) || acknowledge(t)) moved = true;
      deliver_room(t);
    }
    for (auto& [id, c] : consumers) {
      while (deliver_news(id)) moved = true;
      if (c.woken)
        look(id);
      for (auto& [t, p] : c.pipes) {
        moved |= p.linking;
        connect(id, t);
        while (n < most && deliver_up(id, t)) moved = true, ++n;
        while (n < most && deliver_down(id, t)) moved = true, ++n;
      }
    }
    if (!moved && now < until) {
      pass(std::min<duration>(until - now, std::chrono::milliseconds{5}));
      moved = true;
    }
  }
  return n;
}

// -- trainers -------------------------------------------------------------------------------------

void stream_world::look(uint64_t id) {
  auto& c = consumers.at(id);
  c.woken = false;
  carry_out(id, c.core->trainer_moved(now));
}

stream_world::step stream_world::take(uint64_t id) {
  auto& c = consumers.at(id);
  if (c.at_end)
    return step::over;
  for (;;) {
    if (c.current) {
      if (const auto row = c.out->claim(); row >= 0) {
        const auto x = c.current->columns[0].values<int64_t>()[static_cast<size_t>(row)];
        c.pipes.at(static_cast<size_t>(x / 1'000'000'000)).handed_out.push_back(x);
        ++c.taken;
        return step::element;
      }
    }
    const auto next = c.out->try_next(c.current, c.how);
    if (next == handout::outcome::nothing_yet)
      return step::waits;
    if (next == handout::outcome::over) {
      c.at_end = true;
      given_up += c.how.code() == status_code::aborted;
      return step::over;
    }
  }
}

stream_world::step stream_world::next(uint64_t id) {
  for (int i = 0; i < 1000; ++i) {
    if (const auto s = take(id); s != step::waits)
      return s;
    if (settle() == 0)
      pass(std::chrono::milliseconds{100});
  }
  ADD_FAILURE() << "consumer " << id << " waits for ever";
  return step::over;
}

// -- books ----------------------------------------------------------------------------------

std::map<int64_t, size_t> stream_world::all_handed_out() const {
  auto out = of_the_gone_;
  for (const auto& [id, c] : consumers)
    for (const auto& [t, p] : c.pipes)
      for (auto x : p.handed_out) ++out[x];
  return out;
}

std::string stream_world::fault() const {
  const auto seen = all_handed_out();
  size_t known = 0;
  for (size_t t = 0; t < tasks.size(); ++t) {
    uint64_t lost = 0;
    for (int64_t i = 0; i < tasks[t].produced; ++i) {
      const auto at = seen.find(value(t, i));
      if (at != seen.end()) {
        ++known;
        if (at->second != 1)
          return fmt::format("element {} of task {} was handed out {} times", i, t, at->second);
        continue;
      }
      // An element that was sent to a consumer which ended without a message may have been handed
      // out there. So it is not handed out again, and counts as lost.
      if (!unreported_again() && sent_to_the_gone_.contains(value(t, i))) {
        ++lost;
        continue;
      }
      // Any element of a lost task may be missing. Of a task that left, elements that a consumer
      // which is gone had received may be missing.
      if (tasks[t].lost || (tasks[t].left && with_the_gone_.contains(value(t, i))))
        continue;
      return fmt::format("element {} of task {} was lost", i, t);
    }
    if (!tasks[t].lost && !tasks[t].left && lost > tasks[t].lost_with_readers)
      return fmt::format("{} elements of task {} were lost with readers, and it said {}", lost, t,
                         tasks[t].lost_with_readers);
  }
  return known == seen.size() ? "" : "an element was handed out that nobody made";
}

} // namespace headrace::detail
