#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace headrace::detail {

/// How many bytes the operators of one graph may hold ahead of their readers, all together. Rows
/// that a reader waits for are always admitted, so that nothing stalls if the budget is small.
/// Thread-safe.
class byte_budget {
public:
  explicit byte_budget(size_t most) : most_(most) {}

  size_t most() const noexcept { return most_; }
  size_t held() const noexcept { return held_; }
  /// The most bytes that were held at any time.
  size_t peak() const noexcept { return peak_; }

  /// Counts `bytes` more, if there is room for them. After a refusal, listeners are called when
  /// there is room again.
  bool take(size_t bytes) noexcept;
  /// Counts bytes that are held already.
  void add(size_t bytes) noexcept;
  /// Calls the listeners, so it must not be called under a lock that these take.
  void give_back(size_t bytes) noexcept;

private:
  friend class budget_share;
  using listeners = std::list<std::function<void()>>;

  void saw(size_t held) noexcept;
  bool try_take(size_t bytes) noexcept;

  const size_t most_;
  std::atomic<size_t> held_{0}, peak_{0};
  std::atomic<bool> refused_{false}; ///< a request was refused since there was room last
  std::mutex mutex_;
  listeners listeners_;
};

/// The size of an operator's rows, as estimated from those seen so far.
using row_size = std::atomic<size_t>;

/// The bytes that one operator, or one place of it, holds of a budget, which may be null. They are
/// given back by the destructor.
class budget_share {
public:
  /// `more_room` is called by other threads.
  budget_share(std::shared_ptr<byte_budget> of, std::shared_ptr<row_size> rows,
               std::function<void()> more_room);
  ~budget_share();
  budget_share(const budget_share&) = delete;
  budget_share& operator=(const budget_share&) = delete;

  /// Counts the bytes of about `rows` rows, or of fewer if there is no room for all.
  struct taken {
    size_t rows = 0; ///< 0: no room for any
    size_t bytes = 0;
  };
  taken take(size_t rows) noexcept;
  /// The `rows` rows are here: they have `bytes` bytes, where `before` were counted. Returns how
  /// many bytes are to be given back, when no lock is held.
  size_t settle(size_t before, size_t rows, size_t bytes) noexcept;
  /// Updates the estimated size of rows.
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
