#include "headrace/actors/stream/handout.hpp"

#include <algorithm>

namespace headrace::detail {

// -- the consumer's side -----------------------------------------------------------

void handout::add(task_id from, block rows, uint64_t claimed) {
  std::unique_lock lock{mutex_};
  auto& q = queues_[from];
  q.received += rows.rows;
  q.waiting_bytes += rows.bytes();
  q.blocks.push_back(std::move(rows));
  if (claimed != 0)
    extend(q, claimed);
  tell_if_ready(lock);
}

void handout::extend(queue& q, uint64_t claimed) {
  // A late confirmation may include elements that were given back in the meantime.
  q.confirmed = std::max(q.confirmed.value_or(0), std::min(claimed, q.received));
  q.parted = false;
}

void handout::confirm(task_id from, uint64_t claimed) {
  std::unique_lock lock{mutex_};
  extend(queues_[from], claimed);
  tell_if_ready(lock);
}

void handout::own(task_id from) {
  std::unique_lock lock{mutex_};
  auto& q = queues_[from];
  if (!std::exchange(q.confirmed, std::nullopt))
    return;
  tell_if_ready(lock);
}

void handout::tell_if_ready(std::unique_lock<std::mutex>& lock) {
  const bool ready = something_ready();
  if (ready)
    changed_.notify_one();
  const bool waited = waiting_ && ready;
  lock.unlock();
  tell_of_arrival(waited);
}

uint64_t handout::room(task_id from, const queue& q) const {
  if (!q.confirmed)
    return UINT64_MAX;
  const auto before = q.before_current + (current_from_ == from ? limit_of(cut_.load()) : 0);
  return *q.confirmed - std::min(*q.confirmed, before);
}

void handout::tell_of_arrival(bool waited) {
  if (waited && came_)
    came_();
}

uint64_t handout::recall(task_id from, uint64_t keep) {
  std::lock_guard lock{mutex_};
  // A waiting trainer keeps one row. Otherwise one element could be recalled from one waiting
  // trainer after the other for ever, and never be handed out.
  auto& q = queues_[from];
  if (waiting_ && keep == 0) {
    keep = 1;
    q.kept_for_waiting = true;
  }
  return cut_back(from, q, keep);
}

uint64_t handout::recall_all(task_id from) {
  std::lock_guard lock{mutex_};
  return cut_back(from, queues_[from], 0);
}

uint64_t handout::cut_back(task_id from, queue& q, uint64_t keep) {
  q.received = q.before_current;
  if (current_from_ == from) {
    auto seen = cut_.load();
    uint64_t stays = 0;
    do stays = std::min(limit_of(seen), position_of(seen) + keep);
    while (!asked_for_more(seen)
           && !cut_.compare_exchange_weak(seen, packed(position_of(seen), stays)));
    q.received += stays;
    keep -= stays - position_of(seen);
  }
  std::deque<block> stay;
  q.waiting_bytes = 0;
  for (auto& rows : q.blocks) {
    if (keep == 0)
      break;
    auto part = rows.slice(0, std::min<uint64_t>(keep, rows.rows));
    keep -= part.rows;
    q.received += part.rows;
    q.waiting_bytes += part.bytes();
    stay.push_back(std::move(part));
  }
  q.blocks = std::move(stay);
  if (q.confirmed)
    q.confirmed = std::min(*q.confirmed, q.received);
  return q.received;
}

void handout::hold(task_id from) {
  std::lock_guard lock{mutex_};
  auto& q = queues_[from];
  if (!std::exchange(q.held, true) && current_from_ == from)
    put_current_back();
}

void handout::put_current_back() {
  auto seen = cut_.load();
  const auto first = position_of(seen), limit = limit_of(seen);
  if (first == limit)
    return;
  auto& q = queues_[current_from_];
  auto& blocks = q.blocks;
  // The rows are put into the queue before they are taken from the trainer, so that no row is lost
  // if there is no memory for the entry of the queue.
  blocks.push_front(current_->slice(first, limit - first));
  while (!cut_.compare_exchange_weak(seen, packed(position_of(seen), position_of(seen)))) {
  }
  if (const auto taken = position_of(seen); taken != first) {
    const auto known = std::move(blocks.front());
    blocks.pop_front();
    if (taken == limit)
      return;
    blocks.push_front(known.slice(taken - first, limit - taken));
  }
  const auto bytes = blocks.front().bytes();
  q.waiting_bytes += bytes;
  current_bytes_ -= std::min(current_bytes_, bytes);
}

void handout::trust_until(time_point when) {
  trusted_.store(when == time_point::max() ? for_ever : when.time_since_epoch().count(),
                 std::memory_order_relaxed);
  // The earlier time may have passed just now, and the trainer may wait since then.
  std::unique_lock lock{mutex_};
  changed_.notify_one();
  const bool waited = waiting_ && something_ready();
  lock.unlock();
  tell_of_arrival(waited);
}

void handout::release(task_id from) {
  std::unique_lock lock{mutex_};
  auto& q = queues_[from];
  if (!std::exchange(q.held, false) || q.blocks.empty())
    return;
  tell_if_ready(lock);
}

void handout::erase(task_id from) {
  std::lock_guard lock{mutex_};
  if (current_from_ == from)
    settle_current();
  queues_.erase(from);
}

void handout::finish(status how, std::string remark, bool empty) {
  std::unique_lock lock{mutex_};
  if (!end_) {
    end_ = std::move(how);
    remark_ = std::move(remark);
    empty_ = empty;
  }
  changed_.notify_one();
  const bool waited = waiting_;
  lock.unlock();
  tell_of_arrival(waited);
}

bool handout::was_empty() {
  std::lock_guard lock{mutex_};
  return end_ && empty_;
}

void handout::remark(std::string what) {
  const std::lock_guard lock{mutex_};
  news_ = std::move(what);
  has_news_ = true;
}

std::string handout::take_news() {
  const std::lock_guard lock{mutex_};
  has_news_ = false;
  return std::exchange(news_, {});
}

std::string handout::take_remark() {
  std::lock_guard lock{mutex_};
  return end_ ? std::exchange(remark_, {}) : std::string{};
}

handout::marks handout::of(task_id from) {
  std::lock_guard lock{mutex_};
  const auto at = queues_.find(from);
  if (at == queues_.end())
    return {};
  const auto& q = at->second;
  const auto cut = cut_.load();
  const auto current = current_from_ == from ? position_of(cut) : 0;
  marks out{.received = q.received,
            .handed_out = q.before_current + current,
            .bytes = q.waiting_bytes,
            .taken_bytes = q.taken_bytes,
            .confirmed = confirmed_of(q)};
  note_in_use(from, cut, out);
  return out;
}

uint64_t handout::in_use_of(uint64_t cut) const {
  return asked_for_more(cut)
           ? 0
           : std::min(position_of(cut), last_claim_.load(std::memory_order_relaxed));
}

void handout::note_in_use(task_id from, uint64_t cut, marks& of) const {
  if (current_from_ != from || !current_)
    return;
  of.in_use = in_use_of(cut);
  of.in_use_bytes = of.in_use * current_bytes_ / std::max<size_t>(current_->rows, 1);
}

bool handout::something_ready() const {
  if (rounds_) {
    const auto turn = rounds_->next();
    const auto at = turn ? queues_.find(turn->from) : queues_.end();
    return !expired() && at != queues_.end() && ready(at->first, at->second);
  }
  return !expired() && std::any_of(queues_.begin(), queues_.end(), [this](const auto& entry) {
    return ready(entry.first, entry.second);
  });
}

bool handout::starves() const { return waiting_ && !something_ready(); }

bool handout::waiting() {
  std::lock_guard lock{mutex_};
  return starves();
}

std::map<task_id, handout::marks> handout::look(bool& waiting, uint64_t quiet) {
  std::lock_guard lock{mutex_};
  told_ = false;
  unseen_bytes_ = 0;
  quiet_bytes_ = quiet;
  each_block_.store(quiet == 0, std::memory_order_relaxed);
  waiting = starves();
  std::map<task_id, marks> out;
  const auto cut = cut_.load();
  for (auto& [id, q] : queues_) {
    const auto current = current_from_ == id ? position_of(cut) : 0;
    const auto left = current_from_ == id && limit_of(cut) > current ? current_bytes_ : 0;
    const bool spare = q.kept_for_waiting && !waiting_;
    q.kept_for_waiting &= waiting_;
    out[id] = {.received = q.received,
               .handed_out = q.before_current + current,
               .bytes = q.waiting_bytes + left,
               .taken_bytes = q.taken_bytes,
               .spare = spare,
               .confirmed = confirmed_of(q),
               .held_up = std::exchange(q.held_up, false)};
    note_in_use(id, cut, out[id]);
  }
  return out;
}

bool handout::postpones() {
  std::lock_guard lock{mutex_};
  if (quiet_bytes_ != 0 || !current_from_ || current_bytes_ >= small_block || starves())
    return false;
  told_ = false;
  return true;
}

// -- the trainer's side -----------------------------------------------------------

void handout::settle_current() {
  const auto taken = position_of(cut_.exchange(0));
  if (!current_from_)
    return current_.reset();
  auto& q = queues_[current_from_];
  q.before_current += taken;
  pace_.elements += taken;
  if (rounds_)
    rounds_->taken(taken);
  q.taken_bytes += current_bytes_;
  unseen_bytes_ += current_bytes_;
  pace_.bytes += current_bytes_;
  current_from_ = {};
  current_.reset();
}

void handout::tell() {
  if (!told_.exchange(true))
    wake_();
}

std::shared_ptr<const block> handout::take_turn() {
  if (expired()) {
    if (current_from_)
      put_current_back();
    settle_current();
    return nullptr;
  }
  if (rounds_)
    return take_round();
  // Blocks of all tasks are handed out in turn, so that no task waits for ever.
  auto at = queues_.upper_bound(current_from_);
  settle_current();
  for (size_t i = 0; i < queues_.size(); ++i, ++at) {
    if (at == queues_.end())
      at = queues_.begin();
    auto& [from, q] = *at;
    if (q.held || q.blocks.empty())
      continue;
    const auto may = room(from, q);
    if (may == 0) {
      q.held_up = true;
      continue;
    }
    // If only some rows of the block may be handed out, these are handed out in two parts, so that
    // more can be claimed while the trainer has the second part.
    const bool parts = may < q.blocks.front().rows && !std::exchange(q.parted, true);
    return make_current(from, q, parts ? (may + 1) / 2 : may);
  }
  return nullptr;
}

std::shared_ptr<const block> handout::make_current(task_id from, queue& q, uint64_t most) {
  // The parts are made before the queue is changed, so that no row is lost if there is no memory.
  auto& front = q.blocks.front();
  const auto bytes = front.bytes();
  const bool parts = front.rows > most;
  auto rest = parts ? front.slice(most, front.rows - most) : block{};
  auto next = parts ? std::make_shared<const block>(front.slice(0, most))
                    : std::make_shared<const block>(std::move(front));
  q.waiting_bytes -= std::min(bytes, q.waiting_bytes);
  if (parts) {
    q.waiting_bytes += rest.bytes();
    front = std::move(rest);
  } else {
    q.blocks.pop_front();
  }
  current_bytes_ = next->bytes();
  current_from_ = from;
  current_ = std::move(next);
  last_claim_.store(1, std::memory_order_relaxed);
  cut_.store(packed(0, current_->rows));
  return current_;
}

void handout::note_waiting(bool waits) {
  if (waits == waiting_)
    return;
  const auto now = clock::system().now();
  if (waits)
    waiting_since_ = now;
  else
    pace_.waited += now - waiting_since_;
  waiting_ = waits;
}

handout::pace handout::paced() {
  std::lock_guard lock{mutex_};
  auto out = pace_;
  const auto now = clock::system().now();
  out.elapsed = now - began_;
  if (waiting_)
    out.waited += now - waiting_since_;
  if (current_from_)
    out.elements += position_of(cut_);
  return out;
}

handout::outcome handout::take_locked(std::shared_ptr<const block>& rows, status& how) {
  rows = take_turn();
  note_waiting(!rows && !end_);
  if (rows)
    return outcome::rows;
  if (!end_)
    return outcome::nothing_yet;
  how = *end_;
  end_ = status{}; // an error is returned once, and then the end
  return outcome::over;
}

handout::outcome handout::try_next(std::shared_ptr<const block>& rows, status& how) {
  std::unique_lock lock{mutex_};
  const bool waited = waiting_;
  const auto out = take_locked(rows, how);
  // The end of a wait is reported, so that other trainers may be given the remaining rows. For a
  // block of one row `claim` reports it at once. If `each_block_` is false, `claim` reports
  // nothing, and this function reports whenever `quiet_bytes_` more bytes were used up.
  const bool waits_no_more = waited && rows && rows->rows > 1;
  const bool tells = out != outcome::over && unseen_bytes_ >= quiet_bytes_
                     && (out == outcome::nothing_yet || waits_no_more || quiet_bytes_ != 0);
  lock.unlock();
  if (tells)
    tell();
  return out;
}

handout::outcome handout::next_within(duration limit, const std::stop_token& stop,
                                      std::shared_ptr<const block>& rows, status& how) {
  if (const auto out = try_next(rows, how); out != outcome::nothing_yet)
    return out;
  std::unique_lock lock{mutex_};
  const bool came = changed_.wait_for(lock, stop, limit, [&] { return end_ || something_ready(); });
  if (stop.stop_requested()) {
    note_waiting(false);
    how = cancelled("the iteration was stopped");
    return outcome::over;
  }
  lock.unlock();
  return came ? try_next(rows, how) : outcome::nothing_yet;
}

std::shared_ptr<const block> handout::next(std::stop_token stop, status& how) {
  std::shared_ptr<const block> rows;
  while (next_within(std::chrono::hours{1}, stop, rows, how) == outcome::nothing_yet) {
  }
  return rows;
}

std::pair<size_t, size_t> handout::claim_up_to(size_t rows) noexcept {
  if (expired())
    return {0, 0};
  auto seen = cut_.load();
  uint64_t to = 0;
  do {
    // The position may be beyond the limit, and `rows` may be very large.
    const uint64_t at = position_of(seen), limit = limit_of(seen);
    to = at < limit ? at + std::min<uint64_t>(rows, limit - at) : at;
    last_claim_.store(std::max<uint64_t>(to - at, 1), std::memory_order_relaxed);
  } while (!cut_.compare_exchange_weak(seen, packed(to, limit_of(seen))));
  if (to != position_of(seen) && to == limit_of(seen))
    through();
  return {position_of(seen), to};
}

} // namespace headrace::detail
