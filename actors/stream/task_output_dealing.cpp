#include "headrace/actors/stream/task_output.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headrace::detail {

// The functions in this file decide which stream gets the next rows, which rows are recalled, and
// when the ends of streams are sent.

namespace {

/// With several consumers, a stream is dealt at most this many rows in one turn, or as many as its
/// credit if that is more, so that the other streams need not wait long for their turns.
constexpr uint64_t shared_quantum_rows = 1024;
constexpr size_t quantum_bytes = 1 << 20;

} // namespace

task_output::piece task_output::take(uint64_t rows, size_t bytes) {
  auto& front = pending_.front();
  const auto size = front.rows.bytes();
  auto count = std::min<uint64_t>(rows, front.rows.rows());
  // All rows of one block are counted with the same size. A block of one row is dealt whole.
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
  // A small part of a block is not sent in a message of its own, because more credit will arrive
  // soon.
  const auto size = pending_.front().rows.bytes();
  const auto enough = whole_ ? size : std::min<size_t>(size, to.window_bytes / 4);
  if (to.sent != to.taken && bytes < enough)
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
  to.waiting = false; // until the trainer is reported as waiting again
  extend_claim(to);
  to.confirmed = to.claimed;
  out.push_back(
    send_block{who, record.first, *std::move(content), 0, record.rows.forms(), to.claimed});
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
      // The block has been evicted from the window since the stream was opened.
      put_back(to, begin);
      break;
    }
    to.confirmed = to.claimed;
    out.push_back(send_block{who, begin, *std::move(content), 0, rest.forms(), to.claimed});
  }
  to.resend_from = to.sent;
}

std::vector<task_output::action> task_output::deal(bool dry) {
  std::vector<action> out;
  for (auto& [who, s] : streams_) resend(who, s, out);
  const auto part = even_part();
  serve_the_starved(part, out);
  // Streams are served in turn, beginning after the one that was served last.
  const bool in_parts = streams_.size() > 1 && !whole_;
  for (bool served = true; served && !pending_.empty();) {
    served = false;
    for (auto who : in_turn()) {
      auto& s = streams_.at(who);
      if (s.stalled() && !leaving_)
        continue;
      const auto held = s.sent - s.taken;
      const auto room = std::max(held, part) - held;
      const auto quantum =
        in_parts ? std::max(shared_quantum_rows, s.granted - std::min(s.granted, s.taken))
                 : std::numeric_limits<uint64_t>::max();
      if (room != 0)
        served |= serve(who, s, std::min(quantum, room), out);
    }
  }
  confirm_claims(out);
  if (pending_.empty() && shared_ && (exhausted_ || dry))
    recall_for_the_starved(out);
  if (pending_.empty() && exhausted_)
    declare_end(out);
  return out;
}

void task_output::confirm_claims(std::vector<action>& out) {
  for (auto& [who, s] : streams_)
    if (s.connected && s.confirmed < s.claimed) {
      s.confirmed = s.claimed;
      s.waiting = false; // the trainer has an element to take
      out.push_back(send_claimed{who, s.claimed});
    }
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
  // When few rows are left they are divided evenly.
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
    const auto held = s.sent - s.taken;
    const bool idle = s.taken_at_recall == s.taken;
    s.was_recalled = true;
    s.asked_in_vain = true; // reset when the consumer gives rows back or reports something new
    s.taken_at_recall = s.taken;
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

} // namespace headrace::detail
