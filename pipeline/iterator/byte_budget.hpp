#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace headrace::detail {

/// How many bytes the operators of one graph may hold ahead of their readers, all together. What a
/// reader waits for passes in any case, so that nothing stalls, however little there is.
/// Thread-safe.
class byte_budget {
public:
  explicit byte_budget(size_t most) : most_(most) {}

  size_t most() const noexcept { return most_; }
  size_t held() const noexcept { return held_; }
  /// The most that were held at any time.
  size_t peak() const noexcept { return peak_; }

  /// Counts `bytes` more if they fit. Who is refused is told when there is more room.
  bool take(size_t bytes) noexcept;
  /// Counts bytes that are there already.
  void add(size_t bytes) noexcept;
  /// Tells those who listen: not to be called under a lock that they take.
  void give_back(size_t bytes) noexcept;

private:
  friend class budget_share;
  using listeners = std::list<std::function<void()>>;

  void saw(size_t held) noexcept;
  bool try_take(size_t bytes) noexcept;

  const size_t most_;
  std::atomic<size_t> held_{0}, peak_{0};
  std::atomic<bool> refused_{false}; ///< somebody, since there was more room
  std::mutex mutex_;
  listeners listeners_;
};

/// How large the rows of an operator are, by those that were seen.
using row_size = std::atomic<size_t>;

/// What one operator, or one place of it, holds of a budget; may be of none. Ends holding nothing.
class budget_share {
public:
  /// `more_room` is called by other threads.
  budget_share(std::shared_ptr<byte_budget> of, std::shared_ptr<row_size> rows,
               std::function<void()> more_room);
  ~budget_share();
  budget_share(const budget_share&) = delete;
  budget_share& operator=(const budget_share&) = delete;

  /// Counts what about `rows` rows take: fewer, at least one, if there is no room for all.
  struct taken {
    size_t rows = 0; ///< 0: no room for any
    size_t bytes = 0;
  };
  taken take(size_t rows) noexcept;
  /// There are `rows` rows of `bytes` bytes, for which `before` were counted. Returns what is to be
  /// given back then, outside of locks.
  size_t settle(size_t before, size_t rows, size_t bytes) noexcept;
  /// There were such rows.
  void saw(size_t rows, size_t bytes) noexcept;
  /// As `byte_budget::give_back`.
  void give_back(size_t bytes) noexcept;

private:
  const std::shared_ptr<byte_budget> of_;
  const std::shared_ptr<row_size> row_bytes_;
  std::atomic<size_t> held_{0};
  byte_budget::listeners::iterator listener_;
};

} // namespace headrace::detail
