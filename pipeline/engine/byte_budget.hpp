#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace headrace::detail {

/// Bounds the bytes of the rows that all operators of one graph together hold before the rows are
/// requested. If a call of `next` waits for rows, the operator reads them even if there is no room,
/// and does not count them, so that a small budget cannot block the graph. Thread-safe.
class byte_budget {
public:
  explicit byte_budget(size_t most) : most_(most) {}

  size_t most() const noexcept { return most_; }
  size_t held() const noexcept { return held_; }
  /// The most bytes that were held at the same time.
  size_t peak() const noexcept { return peak_; }

  /// Counts `bytes` more if there is room for them; false if there is none. After such a refusal,
  /// the next `give_back` calls the listeners.
  bool take(size_t bytes) noexcept;
  /// Counts bytes that are held already.
  void add(size_t bytes) noexcept;
  /// Counts `bytes` less. May call the listeners, so it must not be called under a lock that the
  /// listeners take.
  void give_back(size_t bytes) noexcept;

private:
  friend class budget_share;
  using listeners = std::list<std::function<void()>>;

  void saw(size_t held) noexcept;
  bool try_take(size_t bytes) noexcept;

  const size_t most_;
  std::atomic<size_t> held_{0}, peak_{0};
  std::atomic<bool> refused_{false}; ///< a request was refused since bytes were last given back
  std::mutex mutex_;
  listeners listeners_;
};

/// The estimated bytes of one row of an operator: the average of the rows that arrived last; 0:
/// unknown.
using row_size = std::atomic<size_t>;

/// The bytes of a budget that one operator holds; an operator that reads several datasets at the
/// same time has a share for each. If the budget is null, nothing is counted. The destructor gives
/// the bytes back.
class budget_share {
public:
  /// `more_room` becomes a listener of the budget. It is called on other threads.
  budget_share(std::shared_ptr<byte_budget> of, std::shared_ptr<row_size> rows,
               std::function<void()> more_room);
  ~budget_share();
  budget_share(const budget_share&) = delete;
  budget_share& operator=(const budget_share&) = delete;

  struct taken {
    size_t rows = 0; ///< 0: there is no room for any row
    size_t bytes = 0;
  };
  /// Counts the estimated bytes of `rows` rows, or of fewer if there is no room for all; returns
  /// the rows and bytes that were counted.
  taken take(size_t rows) noexcept;
  /// Corrects the count when `rows` rows have arrived: they have `bytes` bytes, and `before` bytes
  /// were counted for them. Returns the number of bytes that are to be given back while no lock is
  /// held.
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
