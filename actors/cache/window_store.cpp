#include "headrace/actors/cache/window_store.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

namespace {

/// The bytes of a block in addition to its columns and origins: those of its object and of the
/// headers of its buffers.
constexpr size_t block_overhead = 256;

} // namespace

// -- a block ------------------------------------------------------------------------------

std::optional<block> cached_block::get() const {
  const auto store = store_.lock();
  if (!store)
    return std::nullopt;
  const std::lock_guard lock{store->mutex_};
  return content_;
}

std::shared_ptr<const written_block> cached_block::written(const block& rows,
                                                           block_encoding encoding) {
  const auto index = static_cast<size_t>(encoding);
  const auto store = store_.lock();
  if (store) {
    const std::lock_guard lock{store->mutex_};
    if (forms_[index])
      return forms_[index];
  }
  auto fresh = write_form(rows, encoding);
  if (!store)
    return fresh;
  std::unique_lock lock{store->mutex_};
  const auto at = store->windows_.find(window_);
  if (at == store->windows_.end())
    return fresh;
  ++at->second.encoded;
  if (!content_ || !store->make_room(fresh->own_bytes, this))
    return fresh;
  forms_[index] = fresh;
  charged_ += fresh->own_bytes;
  at->second.bytes += fresh->own_bytes;
  store->bytes_ += fresh->own_bytes;
  const auto shrunk = store->who_shrank(window_);
  lock.unlock();
  for (const auto& call : shrunk) call();
  return fresh;
}

// -- windows ------------------------------------------------------------------------------

uint64_t window_store::open() {
  const std::lock_guard lock{mutex_};
  windows_[++last_window_];
  return last_window_;
}

void window_store::when_there_is_room(uint64_t window, std::function<void()> call) {
  const std::lock_guard lock{mutex_};
  if (const auto at = windows_.find(window); at != windows_.end())
    at->second.room = std::move(call);
}

void window_store::close(uint64_t window) {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock{mutex_};
    const auto at = windows_.find(window);
    if (at == windows_.end())
      return;
    while (!at->second.blocks.empty()) evict(at->second);
    windows_.erase(at);
    waiting = who_lacks_room(window);
  }
  for (const auto& call : waiting) call();
}

size_t window_store::charge_of(const block& rows) {
  return rows.bytes() + rows.origins.size() * sizeof(origin) + block_overhead;
}

bool window_store::may_evict(const window& of) {
  return !of.blocks.empty() && of.blocks.front()->first_ + of.blocks.front()->rows_ <= of.held_from;
}

void window_store::evict(window& of) {
  auto& gone = *of.blocks.front();
  of.shrank = true;
  gone.content_.reset();
  gone.forms_ = {};
  of.bytes -= gone.charged_;
  bytes_ -= std::exchange(gone.charged_, 0);
  of.blocks.pop_front();
}

bool window_store::make_room(uint64_t needs, const cached_block* but) {
  // Nothing is evicted if the block would not fit anyway. The loop ends as soon as enough bytes
  // were found, because a window may have very many blocks.
  size_t may_go = 0;
  const auto fits = [&] { return bytes_ - may_go + needs <= budget_; };
  for (auto x = windows_.begin(); x != windows_.end() && !fits(); ++x)
    for (const auto& one : x->second.blocks) {
      if (fits() || one.get() == but || one->first_ + one->rows_ > x->second.held_from)
        break;
      may_go += one->charged_;
    }
  if (!fits())
    return false;
  while (bytes_ + needs > budget_) {
    window* oldest = nullptr;
    for (auto& [id, x] : windows_)
      if (may_evict(x) && x.blocks.front().get() != but
          && (oldest == nullptr || x.blocks.front()->order_ < oldest->blocks.front()->order_))
        oldest = &x;
    evict(*oldest);
  }
  return true;
}

std::shared_ptr<cached_block> window_store::append(uint64_t window, uint64_t first, block rows,
                                                   bool bounded) {
  const auto charge = charge_of(rows);
  std::unique_lock lock{mutex_};
  auto& to = windows_.at(window);
  if (bounded)
    while (to.bytes + charge > share() && may_evict(to)) evict(to);
  // A window may always have one block.
  const bool within = to.blocks.empty() || to.bytes + charge <= share();
  if ((bounded && !within) || !make_room(charge, nullptr)) {
    to.lacks_room = true;
    const auto before = std::exchange(to.starved_of, within ? charge : 0);
    const auto pressed =
      before == 0 ? who_is_pressed(window) : std::vector<std::function<void()>>{};
    lock.unlock();
    for (const auto& call : pressed) call();
    return nullptr;
  }
  to.lacks_room = false;
  to.starved_of = 0;
  auto out = std::make_shared<cached_block>();
  out->store_ = weak_from_this();
  out->window_ = window;
  out->order_ = ++last_order_;
  out->first_ = first;
  out->rows_ = rows.rows;
  out->bytes_ = rows.bytes();
  out->charged_ = charge;
  out->content_ = std::move(rows);
  to.blocks.push_back(out);
  to.end = first + out->rows_;
  to.bytes += charge;
  ++to.appended;
  bytes_ += charge;
  const auto shrunk = who_shrank(window);
  lock.unlock();
  for (const auto& call : shrunk) call();
  return out;
}

void window_store::hold(uint64_t window, uint64_t from) {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock{mutex_};
    auto& what = windows_.at(window);
    const auto before = std::exchange(what.held_from, from);
    if (from > before)
      waiting = who_lacks_room(window);
  }
  for (const auto& call : waiting) call();
}

void window_store::needs_no_room(uint64_t window) {
  const std::lock_guard lock{mutex_};
  windows_.at(window).starved_of = 0;
}

bool window_store::presses(const window& starved, const window& other) const {
  return &starved != &other && starved.starved_of != 0
         && (other.bytes > share() || starved.starved_of > share());
}

bool window_store::is_pressed(uint64_t window) const {
  const std::lock_guard lock{mutex_};
  const auto& x = windows_.at(window);
  return std::ranges::any_of(windows_, [&](const auto& y) { return presses(y.second, x); });
}

void window_store::free_below(uint64_t window, uint64_t row) {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock{mutex_};
    auto& of = windows_.at(window);
    const auto before = of.blocks.size();
    while (!of.blocks.empty() && of.blocks.front()->first_ + of.blocks.front()->rows_ <= row)
      evict(of);
    if (of.blocks.size() != before)
      waiting = who_lacks_room(window);
  }
  for (const auto& call : waiting) call();
}

std::vector<std::function<void()>> window_store::who_shrank(uint64_t but) {
  std::vector<std::function<void()>> out;
  for (const auto& [id, x] : windows_)
    if (id != but && x.shrank && !std::exchange(x.noticed, true) && x.room)
      out.push_back(x.room);
  return out;
}

std::vector<std::function<void()>> window_store::who_is_pressed(uint64_t by) {
  std::vector<std::function<void()>> out;
  const auto& starved = windows_.at(by);
  for (const auto& [id, x] : windows_)
    if (presses(starved, x) && x.room)
      out.push_back(x.room);
  return out;
}

std::vector<std::function<void()>> window_store::who_lacks_room(uint64_t but) {
  std::vector<std::function<void()>> out;
  for (auto& [id, x] : windows_)
    if (id != but && std::exchange(x.lacks_room, false) && x.room)
      out.push_back(x.room);
  return out;
}

std::shared_ptr<cached_block> window_store::find(uint64_t window, uint64_t row) const {
  const std::lock_guard lock{mutex_};
  const auto at = windows_.find(window);
  if (at == windows_.end())
    return nullptr;
  const auto& blocks = at->second.blocks;
  const auto next =
    std::ranges::upper_bound(blocks, row, {}, [](const auto& x) { return x->first_; });
  if (next == blocks.begin())
    return nullptr;
  const auto& one = *std::prev(next);
  return row < one->first_ + one->rows_ ? one : nullptr;
}

window_store::span window_store::of(uint64_t window) const {
  const std::lock_guard lock{mutex_};
  const auto& x = windows_.at(window);
  x.shrank = x.noticed = false;
  return {x.blocks.empty() ? x.end : x.blocks.front()->first_, x.end, x.bytes, x.appended,
          x.encoded};
}

size_t window_store::bytes() const {
  const std::lock_guard lock{mutex_};
  return bytes_;
}

} // namespace headrace::detail
