#include "headrace/pipeline/iterator/choice_log.hpp"

#include <deque>
#include <mutex>

namespace headrace::detail {

namespace {

constexpr size_t most_numbers = 4096; ///< the most numbers in one chunk
constexpr size_t most_bytes = size_t{64} << 20;
constexpr size_t bytes_of_an_opening = 512; ///< about the size of a small position

/// A part of the log, which is freed as a whole.
struct chunk {
  explicit chunk(uint64_t before) : first(before) {}
  size_t bytes() const {
    return sizeof(chunk) + numbers.size() * sizeof(uint64_t) + (opens ? bytes_of_an_opening : 0);
  }

  uint64_t first; ///< the count of numbers that the log got before the chunk
  std::vector<uint64_t> numbers;
  // The position of an opened iterator is the last entry of its chunk: marks that are made later
  // belong to later chunks, and so do not keep this position in memory.
  bool opens = false;
  position_ptr opened;
  size_t marks = 0;
};

} // namespace

struct choice_log::state {
  using chunks = std::deque<chunk>;

  chunk& last() { return all.back(); }
  uint64_t number_of_last() const { return dropped + all.size() - 1; }
  /// Begins a chunk. Returns the chunks that are no longer needed; the caller must free them after
  /// it has released the mutex.
  chunks append_chunk() {
    bytes += last().bytes();
    all.emplace_back(added);
    return drop();
  }
  chunks drop() {
    chunks out;
    while (all.size() > 1 && (all.front().marks == 0 || bytes > most_bytes)) {
      bytes -= all.front().bytes();
      out.push_back(std::move(all.front()));
      all.pop_front();
      ++dropped;
    }
    return out;
  }

  std::mutex mutex;
  chunks all = chunks(1, chunk{0}); ///< never empty
  uint64_t dropped = 0;             ///< the number of chunks that were dropped
  size_t bytes = 0;                 ///< the bytes of all chunks in `all` but the last one
  uint64_t added = 0;               ///< the count of numbers that were added
};

/// Keeps the chunk of a mark and all later chunks, as long as the log has at most `most_bytes`.
class choice_log::pin {
public:
  /// @pre the mutex is held
  explicit pin(std::shared_ptr<state> of)
    : log(std::move(of)), number(log->number_of_last()), at(log->added) {
    ++log->last().marks;
  }
  ~pin() {
    // These chunks are freed after the mutex is released, because their positions may have the last
    // marks of other logs, whose mutexes are then locked.
    state::chunks unneeded;
    std::lock_guard lock{log->mutex};
    if (number < log->dropped)
      return;
    --log->all[number - log->dropped].marks;
    unneeded = log->drop();
  }
  pin(const pin&) = delete;
  pin& operator=(const pin&) = delete;

  const std::shared_ptr<state> log;
  const uint64_t number; ///< the number of the chunk
  const uint64_t at;     ///< the count of numbers that the log got before the mark
};

choice_log::choice_log() : state_(std::make_shared<state>()) {}

void choice_log::add(uint64_t number) {
  state::chunks unneeded;
  std::lock_guard lock{state_->mutex};
  if (state_->last().numbers.size() == most_numbers)
    unneeded = state_->append_chunk();
  state_->last().numbers.push_back(number);
  ++state_->added;
}

void choice_log::add(position_ptr opened) {
  state::chunks unneeded;
  std::lock_guard lock{state_->mutex};
  state_->last().opens = true;
  state_->last().opened = std::move(opened);
  unneeded = state_->append_chunk();
}

choice_log::mark choice_log::now() const {
  std::lock_guard lock{state_->mutex};
  return mark{std::make_shared<const pin>(state_)};
}

choice_log::choices choice_log::reader::after(const mark& from) {
  const auto& begin = *from.at_;
  auto& log = *begin.log;
  std::lock_guard lock{log.mutex};
  const auto [last, added] = ends_.try_emplace(&log, log.number_of_last(), log.added).first->second;
  if (begin.number < log.dropped)
    return {.numbers = {}, .opened = {}, .incomplete = true};
  choices out;
  out.numbers.reserve(added - begin.at);
  auto at = begin.at;
  for (auto number = begin.number;; ++number) {
    const auto& x = log.all[number - log.dropped];
    const auto end = number == last ? added : x.first + x.numbers.size();
    const auto numbers = x.numbers.begin();
    out.numbers.insert(out.numbers.end(), numbers + static_cast<ptrdiff_t>(at - x.first),
                       numbers + static_cast<ptrdiff_t>(end - x.first));
    at = end;
    if (number == last)
      return out;
    if (x.opens)
      out.opened.push_back(x.opened);
  }
}

} // namespace headrace::detail
