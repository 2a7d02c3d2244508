#include "headrace/actors/cache/cache_window.hpp"

#include "headrace/pipeline/types/block_copy.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

cache_window::cache_window(std::shared_ptr<window_store> store, options how)
  : store_(std::move(store)), options_(how), id_(store_->open()) {}

cache_window::~cache_window() { store_->close(id_); }

// -- trainers -----------------------------------------------------------------------------

void cache_window::join(const std::string& id, cache_start where) {
  const auto [at, fresh] = trainers_.try_emplace(id);
  auto& x = at->second;
  x.away_since.reset();
  if (!fresh)
    return;
  x.next = x.place = where == cache_start::newest ? end_ : span().first;
}

void cache_window::leave(const std::string& id, time_point now) {
  const auto at = trainers_.find(id);
  if (at == trainers_.end() || at->second.away_since)
    return;
  at->second.away_since = now;
  forget_the_longest_away();
}

void cache_window::forget_the_longest_away() {
  const auto away =
    std::ranges::count_if(trainers_, [](const auto& x) { return x.second.away_since.has_value(); });
  if (static_cast<size_t>(away) <= most_away)
    return;
  auto longest = trainers_.end();
  for (auto at = trainers_.begin(); at != trainers_.end(); ++at)
    if (at->second.away_since
        && (longest == trainers_.end() || *at->second.away_since < *longest->second.away_since))
      longest = at;
  trainers_.erase(longest);
}

cache_window::trainer& cache_window::of(const std::string& id) {
  const auto [at, fresh] = trainers_.try_emplace(id);
  if (fresh)
    at->second.next = at->second.place = end_;
  return at->second;
}

void cache_window::handed_out(const std::string& id, uint64_t below) {
  auto& x = of(id);
  if (below <= x.place)
    return;
  x.place = std::min(below, x.next);
  x.given_up = false;
}

void cache_window::handed_out_all(const std::string& id) { handed_out(id, of(id).next); }

void cache_window::skipped(const std::string& id, uint64_t elements) {
  if (elements != 0)
    of(id).skipped += elements;
}

void cache_window::put_back(const std::string& id, uint64_t next) {
  auto& x = of(id);
  x.next = x.place = next;
}

// -- elements -----------------------------------------------------------------------------

std::optional<cache_window::reading> cache_window::read(const std::string& id) {
  auto& x = of(id);
  // The windows share one store with a memory limit, so another window may evict blocks of this one
  // while the loop runs.
  while (x.next < end_) {
    if (const auto first = span().first; first > x.next) {
      x.skipped += first - x.next;
      if (x.place == x.next)
        x.place = first;
      x.next = first;
      continue;
    }
    auto rows = store_->find(id_, x.next);
    if (!rows)
      continue;
    const auto first = store_->first_of(*rows);
    reading out{x.next, rows, static_cast<size_t>(x.next - first)};
    x.next = first + rows->rows();
    return out;
  }
  return std::nullopt;
}

bool cache_window::has_all(const std::string& id) const {
  const auto at = trainers_.find(id);
  return at == trainers_.end() || at->second.next >= end_;
}

size_t cache_window::rows_of_a_block(const block& rows) const {
  const auto most = std::min(most_block_bytes, store_->budget() / least_blocks);
  const auto charge = window_store::charge_of(rows);
  if (charge <= most || rows.rows <= 1)
    return std::max<size_t>(rows.rows, 1);
  const auto beside = charge - rows.bytes();
  auto out = std::clamp<size_t>(
    (most - std::min(most, beside)) * rows.rows / std::max<size_t>(rows.bytes(), 1), 1, rows.rows);
  // `out` was computed for rows of equal sizes. While that many rows are too large, it is halved.
  while (out > 1 && window_store::charge_of(rows.slice(0, out)) > most) out /= 2;
  return out;
}

cache_window::outcome cache_window::append(const block& rows, time_point now) {
  if (window_store::charge_of(rows) > store_->budget())
    return outcome::too_large;
  renew_hold(now);
  // The rows are copied, because they may be small parts of large buffers, which would not be freed
  // as long as the window has these rows.
  auto kept = store_->append(id_, end_, copy_of(rows), held_from_ < end_);
  if (kept == nullptr) {
    lacks_room_ = true;
    if (held_from_ < end_ && !waits_since_)
      waits_since_ = now;
    return outcome::no_room;
  }
  lacks_room_ = false;
  waits_since_.reset();
  end_ += rows.rows;
  return outcome::appended;
}

void cache_window::needs_no_room() {
  if (std::exchange(lacks_room_, false))
    store_->needs_no_room(id_);
}

// -- the trainers that the window waits for -------------------------------------------------

bool cache_window::holds(const trainer& x, time_point now) const {
  return options_.wait && !x.given_up && !(x.away_since && *x.away_since + options_.lease <= now);
}

void cache_window::renew_hold(time_point now) {
  looked_at_ = now;
  auto from = UINT64_MAX;
  for (const auto& [id, x] : trainers_)
    if (holds(x, now))
      from = std::min(from, x.place);
  if (std::exchange(held_from_, from) != from)
    store_->hold(id_, from);
  if (options_.closed)
    free_passed();
}

void cache_window::free_passed() {
  // The places of all trainers count: a trainer that the window no longer waits for may come back
  // and read the blocks that are left.
  auto below = end_;
  for (const auto& [id, x] : trainers_) below = std::min(below, x.place);
  if (std::exchange(freed_below_, below) != below)
    store_->free_below(id_, below);
}

void cache_window::look_whether_pressed(time_point now) {
  if (held_from_ >= end_ || !store_->is_pressed(id_))
    return pressed_since_.reset();
  const auto first = span().first;
  if (pressed_since_ && pressed_from_ == first)
    return;
  pressed_since_ = now;
  pressed_from_ = first;
}

void cache_window::look(time_point now) {
  if (pressed_since_)
    look_whether_pressed(now);
  const auto is_over = [&](const std::optional<time_point>& since) {
    return since && options_.wait && *since + *options_.wait <= now;
  };
  if (is_over(waits_since_) || is_over(pressed_since_)) {
    // The oldest block is kept for the trainers whose places are before its end: the window gives
    // these trainers up. Blocks before the places of all trainers give other windows room already.
    const auto first = is_over(waits_since_) ? span().first : std::max(span().first, held_from_);
    const auto oldest = store_->find(id_, first);
    const auto end = oldest ? store_->first_of(*oldest) + oldest->rows() : first;
    for (auto& [id, x] : trainers_) x.given_up |= x.place < end;
    waits_since_.reset();
    if (pressed_since_)
      pressed_since_ = now; // The other window may need more room than this frees.
  }
  renew_hold(now);
  look_whether_pressed(now);
}

std::optional<time_point> cache_window::next_deadline() const {
  if (!options_.wait)
    return {};
  std::optional<time_point> out;
  for (const auto& since : {waits_since_, pressed_since_})
    if (since)
      out = std::min(out.value_or(time_point::max()), *since + *options_.wait);
  // When a trainer was away for a lease, blocks kept for it may be evicted for other windows.
  for (const auto& [id, x] : trainers_)
    if (x.away_since && !x.given_up && x.place < end_)
      if (const auto until = *x.away_since + options_.lease; until > looked_at_)
        out = std::min(out.value_or(until), until);
  return out;
}

cache_report cache_window::report() const {
  const auto now = span();
  cache_report out{.first = now.first,
                   .end = now.end,
                   .bytes = now.bytes,
                   .blocks = now.blocks,
                   .encoded = now.encoded,
                   .budget = store_->budget()};
  for (const auto& [id, x] : trainers_) {
    // The next element that the trainer can read: it skips the elements that have left the window.
    const auto next = std::max(now.first, x.next);
    out.trainers.push_back({id, end_ - next, x.skipped + next - x.next, 0});
  }
  return out;
}

} // namespace headrace::detail
