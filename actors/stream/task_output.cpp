#include "headrace/actors/stream/task_output.hpp"

#include "headrace/actors/stream/claim_ahead.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

// -- events ---------------------------------------------------------------------

void task_output::produced(block rows) {
  pending_bytes_ += rows.bytes();
  pending_rows_ += rows.rows;
  const auto number = std::exchange(produced_, produced_ + rows.rows);
  pending_.push_back({number, std::move(rows)});
}

void task_output::produced_at(uint64_t number, dealt_rows rows) {
  produced_ = std::max(produced_, number + rows.rows());
  pending_bytes_ += rows.bytes();
  pending_rows_ += rows.rows();
  pending_.push_back({number, std::move(rows)});
}

void task_output::produced_apart(uint64_t number, block rows) {
  pending_bytes_ += rows.bytes();
  pending_rows_ += rows.rows;
  pending_.push_back({number, std::move(rows), true});
}

status task_output::opened(consumer_id who, const stream_open& how) {
  open(who, how.received, how.handed_out);
  return {};
}

void task_output::exhausted() { exhausted_ = true; }

void task_output::leaving() { leaving_ = true; }

void task_output::received(consumer_id who, uint64_t elements) {
  if (auto at = streams_.find(who); at != streams_.end())
    at->second.received = std::max(at->second.received, elements);
}

void task_output::open(consumer_id who, uint64_t received, uint64_t handed_out) {
  auto& s = streams_[who];
  s.connected = true;
  s.ended = false; // the end is sent again
  s.disregarded = false;
  s.recall = 0; // the recall is sent again, too
  s.waiting = false;
  s.asked_in_vain = false;
  forget_through(s, handed_out);
  s.taken = s.handed_out;
  s.received = received;
  s.resend_from = received;
  s.confirmed = s.handed_out; // confirmations are sent again, too
  // Rows that were evicted leave no gap in the stream: the rows after them get the next numbers.
  const auto lost = [&](const kept& x) {
    return x.first + x.rows.rows() > received && !x.rows.get();
  };
  if (std::ranges::any_of(s.retained, lost))
    put_back(s, received);
}

void task_output::grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
                        bool waiting) {
  auto at = streams_.find(who);
  if (at == streams_.end())
    return;
  auto& s = at->second;
  s.asked_in_vain = false;
  forget_through(s, handed_out);
  s.granted = elements;
  s.window_bytes = bytes;
  s.waiting = waiting;
}

void task_output::taken(consumer_id who, uint64_t elements) {
  if (const auto at = streams_.find(who); at != streams_.end()) {
    auto& s = at->second;
    s.taken = std::max(s.handed_out, std::min(elements, s.sent));
  }
}

void task_output::claims(consumer_id who, uint64_t elements) {
  const auto at = streams_.find(who);
  if (!claims_ || at == streams_.end())
    return;
  at->second.wanted = elements;
  extend_claim(at->second);
}

void task_output::extend_claim(stream& of) const noexcept {
  if (claims_)
    of.claimed =
      std::max(of.claimed, std::min(of.sent, std::max(of.wanted, of.taken + claim_ahead::least)));
}

void task_output::recalled(consumer_id who, uint64_t id, uint64_t mark) {
  auto at = streams_.find(who);
  if (at == streams_.end() || at->second.recall != id)
    return;
  auto& s = at->second;
  s.recall = 0;
  if (mark < s.sent)
    s.asked_in_vain = false;
  put_back(s, std::max(mark, s.handed_out));
}

void task_output::handed_out(consumer_id who, uint64_t elements) {
  if (auto at = streams_.find(who); at != streams_.end())
    forget_through(at->second, elements);
}

void task_output::cut(consumer_id who) {
  if (auto at = streams_.find(who); at != streams_.end())
    at->second.connected = false;
}

void task_output::leave(consumer_id who) {
  auto at = streams_.find(who);
  if (at == streams_.end())
    return;
  put_back(at->second, at->second.handed_out);
  streams_.erase(at);
}

void task_output::give_up(consumer_id who) {
  const auto at = streams_.find(who);
  if (at == streams_.end())
    return;
  auto& s = at->second;
  if (const auto mark = std::max(s.claimed, s.handed_out); mark > s.handed_out) {
    lost_[who] = {mark, s.handed_out};
    forget_through(s, mark);
  }
  leave(who);
}

bool task_output::stream::has_room() const noexcept {
  return connected && !ended && recall == 0 && granted > sent
         && (retained_bytes < window_bytes || sent == taken);
}

bool task_output::stream::starved() const noexcept {
  return waiting && sent == handed_out && has_room();
}

bool task_output::stream::stalled() const noexcept {
  return !waiting && was_recalled && taken == taken_at_recall;
}

bool task_output::stream::recallable() const noexcept {
  const auto held = sent - taken;
  // A waiting trainer that was sent one element will take it. After a recall that got no rows back,
  // no recall is sent on the stream before its consumer reports something new.
  return connected && recall == 0 && held != 0 && !(waiting && held == 1) && !asked_in_vain;
}

void task_output::account(const dealt_rows& rows) {
  if (!accounts_)
    return;
  if (const auto known = rows.get())
    given_.add(*known);
}

void task_output::forget_through(stream& of, uint64_t mark) {
  mark = std::min(mark, of.sent);
  of.handed_out = std::max(of.handed_out, mark);
  of.taken = std::max(of.taken, of.handed_out);
  while (!of.retained.empty()) {
    auto& front = of.retained.front();
    const auto rows = front.rows.rows();
    const auto end = front.first + rows;
    if (end <= of.handed_out) {
      account(front.rows);
      handed_through_ = std::max(handed_through_, front.end());
      of.retained_bytes -= front.bytes;
      of.retained.pop_front();
      continue;
    }
    if (front.first < of.handed_out) {
      const auto gone = of.handed_out - front.first;
      account(front.rows.slice(0, gone));
      of.retained_bytes -= front.bytes;
      static_cast<piece&>(front) = front.behind(gone);
      front.first = of.handed_out;
      front.bytes = front.rows.bytes();
      of.retained_bytes += front.bytes;
      handed_through_ = std::max(handed_through_, front.number);
    }
    return;
  }
}

void task_output::put_back(stream& from, uint64_t mark) {
  if (mark >= from.sent)
    return;
  auto overtaken = rising_ ? handed_through_ : 0;
  if (rising_)
    for (const auto& [who, s] : streams_)
      if (&s != &from)
        overtaken = std::max(overtaken, s.reached);
  while (!from.retained.empty()
         && from.retained.back().first + from.retained.back().rows.rows() > mark) {
    auto last = std::move(from.retained.back());
    from.retained.pop_back();
    from.retained_bytes -= last.bytes;
    const auto stays = mark > last.first ? mark - last.first : 0;
    auto back = last.behind(stays);
    // If numbers must increase, a row is skipped if a row with a higher number was handed out, or
    // was sent on another stream.
    if (const auto passed = std::min(overtaken - std::min(overtaken, back.number), back.numbers());
        passed != 0) {
      skipped_ += passed;
      back = back.behind(passed);
    }
    if (back.rows.rows() != 0) {
      pending_bytes_ += back.rows.bytes();
      pending_rows_ += back.rows.rows();
      pending_.push_front(std::move(back));
    }
    if (stays != 0) {
      last.rows = last.rows.slice(0, stays);
      last.bytes = last.rows.bytes();
      from.retained_bytes += last.bytes;
      from.retained.push_back(std::move(last));
      break;
    }
  }
  from.reached = from.retained.empty() ? 0 : from.retained.back().end();
  from.sent = mark;
  from.taken = std::min(from.taken, mark);
  from.claimed = std::min(from.claimed, mark);
  from.confirmed = std::min(from.confirmed, mark);
  from.received = std::min(from.received, mark);
  from.resend_from = std::min(from.resend_from, mark);
}

uint64_t task_output::drop_pending(uint64_t end) {
  for (; !pending_.empty(); pending_.pop_back()) {
    const auto& last = pending_.back();
    if (!last.apart && last.end() == end)
      end = last.number;
    else
      skipped_ += last.rows.rows();
  }
  pending_bytes_ = 0;
  pending_rows_ = 0;
  return end;
}

// -- state ----------------------------------------------------------------------

bool task_output::finished() const noexcept {
  return exhausted_ && pending_.empty()
         && std::all_of(streams_.begin(), streams_.end(), [](const auto& entry) {
              return entry.second.ended && entry.second.sent == entry.second.handed_out;
            });
}

bool task_output::delivered() const noexcept {
  return exhausted_ && pending_.empty() && std::ranges::all_of(streams_, [](const auto& entry) {
           const auto& s = entry.second;
           // A consumer whose link is lost may have ended, and may have lost the rows that it had
           // received and not handed out.
           return (s.connected ? s.received >= s.sent : s.handed_out == s.sent) && s.recall == 0;
         });
}

std::map<consumer_id, reader_marks> task_output::held() const {
  std::map<consumer_id, reader_marks> out;
  for (const auto& [who, s] : streams_)
    if (s.handed_out < s.sent)
      out[who] = {s.sent, s.handed_out};
  return out;
}

uint64_t task_output::handed_out_below() const noexcept {
  auto out = produced_;
  for (const auto& x : pending_) out = std::min(out, x.number);
  for (const auto& [who, s] : streams_)
    for (const auto& x : s.retained) out = std::min(out, x.number);
  return out;
}

bool task_output::has_room() const noexcept {
  return pending_.empty() && std::ranges::any_of(streams_, [&](const auto& entry) {
           return entry.second.has_room() && (leaving_ || !entry.second.stalled());
         });
}

void task_output::disregard(consumer_id who) {
  if (auto at = streams_.find(who); at != streams_.end())
    at->second.disregarded = true;
}

uint64_t task_output::place() const noexcept {
  auto out = produced_;
  for (const auto& x : pending_) out = std::min(out, x.number);
  for (const auto& [who, s] : streams_) {
    if (s.disregarded)
      continue;
    for (const auto& x : s.retained) {
      out = std::min(out, x.number);
      if (rising_) // the first one has the lowest number
        break;
    }
  }
  return out;
}

uint64_t task_output::outstanding() const noexcept {
  uint64_t out = 0;
  for (const auto& x : pending_) out += x.numbers();
  for (const auto& [who, s] : streams_)
    for (const auto& x : s.retained) out += x.numbers();
  return out;
}

bool task_output::idle() const noexcept {
  return pending_.empty() && std::ranges::all_of(streams_, [](const auto& entry) {
           return entry.second.retained.empty();
         });
}

size_t task_output::connected() const noexcept {
  return static_cast<size_t>(
    std::ranges::count_if(streams_, [](const auto& entry) { return entry.second.connected; }));
}

size_t task_output::retained_bytes() const noexcept {
  size_t out = 0;
  for (const auto& [who, s] : streams_) out += s.retained_bytes;
  return out;
}

} // namespace headrace::detail
