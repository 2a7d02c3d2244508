#include "headrace/pipeline/iterator/choice_log.hpp"

#include <atomic>
#include <deque>
#include <mutex>

namespace headrace::detail {

// A chunk keeps the chunks after it, so that those before the oldest mark are freed.
struct choice_log::chunk {
  static constexpr size_t most = 4096;

  explicit chunk(uint64_t before) : first(before) {}
  // Frees the chunks after it that nobody else has, one by one: there may be millions.
  ~chunk() {
    auto rest = std::move(next);
    while (rest && rest.use_count() == 1) {
      std::atomic_thread_fence(std::memory_order_acquire); // after the last other owner
      rest = std::exchange(rest->next, nullptr);
    }
  }
  chunk(const chunk&) = delete;
  chunk& operator=(const chunk&) = delete;

  const uint64_t first; ///< the number of numbers before the chunk
  std::vector<uint64_t> numbers;
  // A chunk that ends with an opened iterator has a next one. A mark after that iterator refers to
  // the next chunk, and so does not keep the position.
  bool opens = false;
  position_ptr opened;
  std::shared_ptr<chunk> next;
};

struct choice_log::state {
  /// @pre the mutex is held
  void append_chunk() {
    const auto bytes = bytes_of(*last);
    recent.push_back({last, bytes});
    kept += bytes;
    last->next = std::make_shared<chunk>(added);
    last = std::shared_ptr{last->next};
    while (kept > most_bytes) {
      // Marks in a chunk that is too old cannot be read any more, and do not keep the later ones.
      if (const auto old = recent.front().at.lock())
        old->next.reset();
      kept -= recent.front().bytes;
      recent.pop_front();
    }
  }
  static size_t bytes_of(const chunk& x) {
    constexpr size_t of_an_opening = 512; // a small position
    return sizeof(chunk) + x.numbers.size() * sizeof(uint64_t) + (x.opens ? of_an_opening : 0);
  }

  mutable std::mutex mutex;
  std::shared_ptr<chunk> last = std::make_shared<chunk>(0);
  uint64_t added = 0; ///< the number of numbers
  struct closed {
    std::weak_ptr<chunk> at;
    size_t bytes;
  };
  static constexpr size_t most_bytes = size_t{64} << 20;
  std::deque<closed> recent; ///< the chunks before `last`, whether there are marks for them or not
  size_t kept = 0;           ///< the bytes of `recent`
};

choice_log::choice_log() : state_(std::make_shared<state>()) {}

void choice_log::add(uint64_t number) {
  std::lock_guard lock{state_->mutex};
  if (state_->last->numbers.size() == chunk::most)
    state_->append_chunk();
  state_->last->numbers.push_back(number);
  ++state_->added;
}

void choice_log::add(position_ptr opened) {
  std::lock_guard lock{state_->mutex};
  state_->last->opens = true;
  state_->last->opened = std::move(opened);
  state_->append_chunk();
}

choice_log::mark choice_log::now() const {
  std::lock_guard lock{state_->mutex};
  return {state_, state_->last, state_->added};
}

choice_log::mark::mark(std::shared_ptr<const state> log, std::shared_ptr<const chunk> first,
                       uint64_t at)
  : log_(std::move(log)), first_(std::move(first)), at_(at) {}

choice_log::choices choice_log::reader::after(const mark& from) {
  const auto& log = *from.log_;
  std::lock_guard lock{log.mutex};
  const auto [last, added] = ends_.try_emplace(&log, log.last.get(), log.added).first->second;
  choices out;
  out.numbers.reserve(added - from.at_);
  auto at = from.at_;
  for (const auto* x = from.first_.get();; x = x->next.get()) {
    if (x == nullptr)
      return {.numbers = {}, .opened = {}, .incomplete = true};
    const auto end = x == last ? added : x->first + x->numbers.size();
    const auto begin = x->numbers.begin();
    out.numbers.insert(out.numbers.end(), begin + static_cast<ptrdiff_t>(at - x->first),
                       begin + static_cast<ptrdiff_t>(end - x->first));
    at = end;
    if (x == last)
      return out;
    if (x->opens)
      out.opened.push_back(x->opened);
  }
}

} // namespace headrace::detail
