#include "headrace/actors/stream/task_output.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headrace {

namespace {

/// With several consumers none gets more than this in one turn, so that none waits for long.
constexpr uint64_t shared_quantum_rows = 1024;
constexpr size_t quantum_bytes = 1 << 20;

} // namespace

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
  s.ended = false; // it is told again
  s.disregarded = false;
  s.recall = 0; // and asked again
  s.waiting = false;
  s.asked_in_vain = false;
  forget_through(s, handed_out);
  s.received = received;
  s.resend_from = received;
  // What is not there any more leaves no gap in the stream: the rest gets other numbers.
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

bool task_output::stream::has_room() const noexcept {
  return connected && !ended && recall == 0 && granted > sent
         && (retained_bytes < window_bytes || retained.empty());
}

bool task_output::stream::starved() const noexcept {
  return waiting && sent == handed_out && has_room();
}

bool task_output::stream::stalled() const noexcept {
  return !waiting && was_recalled && handed_out == handed_out_at_recall;
}

bool task_output::stream::recallable() const noexcept {
  const auto held = sent - handed_out;
  // A trainer that waits and was sent one element will take it; one that was asked in vain is not
  // asked again before it says something new.
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
    // Some may have been overtaken.
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
  from.received = std::min(from.received, mark);
  from.resend_from = std::min(from.resend_from, mark);
}

// -- dealing ----------------------------------------------------------------------

task_output::piece task_output::take(uint64_t rows, size_t bytes) {
  auto& front = pending_.front();
  const auto size = front.rows.bytes();
  auto count = std::min<uint64_t>(rows, front.rows.rows());
  // Rows of one block are taken to be of one size; a block of one row goes whole.
  if (size > bytes && front.rows.rows() > 1)
    count = std::clamp<uint64_t>(bytes * front.rows.rows() / size, 1, count);
  pending_bytes_ -= size;
  pending_rows_ -= count;
  auto out = front;
  if (count == front.rows.rows()) {
    pending_.pop_front();
    return out;
  }
  out.rows = front.rows.slice(0, count);
  front = front.behind(count);
  pending_bytes_ += front.rows.bytes();
  return out;
}

bool task_output::serve(consumer_id who, stream& to, uint64_t most_rows, std::vector<action>& out) {
  if (pending_.empty() || !to.has_room())
    return false;
  const auto rows = std::min(to.granted - to.sent, most_rows);
  auto bytes = std::max<size_t>(to.window_bytes - std::min(to.window_bytes, to.retained_bytes), 1);
  // Room for a crumb of a block is not worth a message: more will be free soon.
  const auto size = pending_.front().rows.bytes();
  const auto enough = whole_ ? size : std::min<size_t>(size, to.window_bytes / 4);
  if (!to.retained.empty() && bytes < enough)
    return false;
  if (!whole_)
    bytes = std::min(bytes, quantum_bytes);
  kept record{take(rows, bytes), to.sent, 0};
  auto content = record.rows.get();
  if (!content) {
    skipped_ += record.numbers();
    return true;
  }
  record.bytes = record.rows.bytes();
  to.sent += record.rows.rows();
  to.reached = record.end();
  to.retained_bytes += record.bytes;
  to.waiting = false; // until it says so again
  out.push_back(send_block{who, record.first, *std::move(content), 0, record.rows.forms()});
  to.retained.push_back(std::move(record));
  to.resend_from = to.sent;
  last_served_ = who;
  return true;
}

void task_output::resend(consumer_id who, stream& to, std::vector<action>& out) {
  if (!to.connected || to.resend_from >= to.sent)
    return;
  for (const auto& k : to.retained) {
    const auto end = k.first + k.rows.rows();
    if (end <= to.resend_from)
      continue;
    const auto begin = std::max(k.first, to.resend_from);
    const auto rest = k.rows.slice(begin - k.first, end - begin);
    auto content = rest.get();
    if (!content) {
      // It was dropped since the stream was opened.
      put_back(to, begin);
      break;
    }
    out.push_back(send_block{who, begin, *std::move(content), 0, rest.forms()});
  }
  to.resend_from = to.sent;
}

std::vector<task_output::action> task_output::deal(bool dry) {
  std::vector<action> out;
  for (auto& [who, s] : streams_) resend(who, s, out);
  const auto part = even_part();
  serve_the_starved(part, out);
  // In turn, beginning after the one that was served last.
  const auto quantum =
    streams_.size() > 1 && !whole_ ? shared_quantum_rows : std::numeric_limits<uint64_t>::max();
  for (bool served = true; served && !pending_.empty();) {
    served = false;
    for (auto who : in_turn()) {
      auto& s = streams_.at(who);
      if (s.stalled() && !leaving_)
        continue;
      const auto held = s.sent - s.handed_out;
      const auto room = std::max(held, part) - held;
      if (room != 0)
        served |= serve(who, s, std::min(quantum, room), out);
    }
  }
  if (pending_.empty() && shared_ && (exhausted_ || dry))
    recall_for_the_starved(out);
  if (pending_.empty() && exhausted_)
    declare_end(out);
  return out;
}

std::vector<consumer_id> task_output::in_turn() const {
  std::vector<consumer_id> out;
  out.reserve(streams_.size());
  const auto after = streams_.upper_bound(last_served_);
  for (auto at = after; at != streams_.end(); ++at) out.push_back(at->first);
  for (auto at = streams_.begin(); at != after; ++at) out.push_back(at->first);
  return out;
}

uint64_t task_output::even_part() const noexcept {
  if (!shared_ || !exhausted_ || leaving_)
    return std::numeric_limits<uint64_t>::max();
  const auto readers = static_cast<uint64_t>(std::ranges::count_if(
    streams_, [](const auto& entry) { return entry.second.connected && !entry.second.ended; }));
  return readers < 2 ? std::numeric_limits<uint64_t>::max()
                     : (pending_rows_ + readers - 1) / readers;
}

void task_output::serve_the_starved(uint64_t part, std::vector<action>& out) {
  if (streams_.size() < 2 || pending_.empty())
    return;
  std::vector<consumer_id> starved;
  for (auto who : in_turn())
    if (streams_.at(who).starved())
      starved.push_back(who);
  if (starved.empty())
    return;
  // What is scarce is shared evenly.
  const auto share = std::clamp<uint64_t>(
    std::min((pending_rows_ + starved.size() - 1) / starved.size(), part), 1, shared_quantum_rows);
  for (auto who : starved) {
    auto& s = streams_.at(who);
    for (auto left = share; left != 0 && !pending_.empty();) {
      const auto before = s.sent;
      if (!serve(who, s, whole_ ? std::numeric_limits<uint64_t>::max() : left, out))
        break;
      left -= std::min(left, s.sent - before);
    }
  }
}

void task_output::recall_for_the_starved(std::vector<action>& out) {
  if (!could_recall() || leaving_)
    return;
  for (auto& [who, s] : streams_) {
    if (!s.recallable())
      continue;
    const auto held = s.sent - s.handed_out;
    const bool idle = s.handed_out_at_recall == s.handed_out;
    s.was_recalled = true;
    s.asked_in_vain = true; // unless it gives something, or says something new
    s.handed_out_at_recall = s.handed_out;
    s.recall = ++last_recall_;
    out.push_back(send_recall{who, s.recall, idle ? 0 : held / 2});
  }
}

bool task_output::could_recall() const noexcept {
  const auto any = [&](auto what) {
    return std::any_of(streams_.begin(), streams_.end(),
                       [&](const auto& entry) { return (entry.second.*what)(); });
  };
  return shared_ && pending_.empty() && any(&stream::starved) && any(&stream::recallable);
}

void task_output::declare_end(std::vector<action>& out) {
  const bool held = std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) {
    return entry.second.sent != entry.second.handed_out || entry.second.recall != 0;
  });
  if (shared_ && held)
    return;
  for (auto& [who, s] : streams_)
    if (s.connected && !s.ended) {
      s.ended = true;
      out.push_back(send_end{who, s.sent});
    }
}

std::vector<task_output::send_end> task_output::remaining_ends() {
  std::vector<send_end> out;
  for (auto& [who, s] : streams_)
    if (s.connected && !std::exchange(s.ended, true))
      out.push_back({who, s.sent});
  return out;
}

bool task_output::finished() const noexcept {
  return exhausted_ && pending_.empty()
         && std::all_of(streams_.begin(), streams_.end(), [](const auto& entry) {
              return entry.second.ended && entry.second.sent == entry.second.handed_out;
            });
}

bool task_output::delivered() const noexcept {
  return exhausted_ && pending_.empty() && std::ranges::all_of(streams_, [](const auto& entry) {
           const auto& s = entry.second;
           // One whose link is lost may have died with what it received.
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
  for (const auto& [who, s] : streams_)
    if (!s.disregarded && !s.retained.empty())
      out = std::min(out, s.retained.front().number);
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

} // namespace headrace
