#pragma once

#include "headrace/actors/protocol/block_forms.hpp"
#include "headrace/actors/stream/dealt_rows.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace {

class window_store;

/// One block of a window. Whoever holds it reads nothing from it once it is evicted.
class cached_block final : public shared_rows, public block_forms {
public:
  std::optional<block> get() const override;
  size_t rows() const noexcept override { return rows_; }
  /// Of the block itself.
  size_t bytes() const noexcept override { return bytes_; }
  /// Encodes at most once for each encoding, and keeps that with the block as long as the budget
  /// allows it.
  std::shared_ptr<const written_block> written(const block& rows, block_encoding encoding) override;

private:
  friend class window_store;
  std::weak_ptr<window_store> store_;
  uint64_t window_ = 0;
  uint64_t order_ = 0; ///< in which blocks came to the store
  uint64_t first_ = 0;
  size_t rows_ = 0;
  size_t bytes_ = 0;
  size_t charged_ = 0; ///< with what is kept of it encoded
  std::optional<block> content_;
  std::array<std::shared_ptr<const written_block>, 2> forms_;
};

/// The blocks of all windows of a worker, within one budget of bytes. What does not fit makes room
/// for itself: the oldest block goes first, of whatever window, unless that holds it. Thread-safe,
/// as each window is a task's.
class window_store : public std::enable_shared_from_this<window_store> {
public:
  static std::shared_ptr<window_store> make(size_t budget) {
    return std::shared_ptr<window_store>{new window_store{budget}};
  }

  /// A new window, which holds nothing.
  uint64_t open();
  /// `call` is called, from any thread and with nothing locked, when there may be room for what the
  /// window could not append.
  void when_there_is_room(uint64_t window, std::function<void()> call);
  void close(uint64_t window);

  /// What a block is charged.
  static size_t charge_of(const block& rows);
  /// Appends rows with the numbers from `first` on. Null: what windows hold leaves no room for
  /// them; or `bounded`, and the window would have more than its share.
  /// @pre charge_of(rows) <= budget()
  std::shared_ptr<cached_block> append(uint64_t window, uint64_t first, block rows, bool bounded);
  /// Rows from this number on are not evicted; at first none is held.
  void hold(uint64_t window, uint64_t from);
  /// The block that has that row; null: it was evicted, or is not there yet.
  std::shared_ptr<cached_block> find(uint64_t window, uint64_t row) const;

  static uint64_t first_of(const cached_block& x) noexcept { return x.first_; }

  struct span {
    uint64_t first = 0; ///< of the oldest row; `end` if there is none
    uint64_t end = 0;
    size_t bytes = 0;
    uint64_t blocks = 0;  ///< ever
    uint64_t encoded = 0; ///< how often one was encoded, ever
  };
  span of(uint64_t window) const;

  size_t budget() const noexcept { return budget_; }
  /// In use, by all windows.
  size_t bytes() const;
  /// What one window may have while others need room.
  size_t share() const;

private:
  friend class cached_block;
  struct window {
    std::deque<std::shared_ptr<cached_block>> blocks;
    uint64_t end = 0;
    uint64_t held_from = UINT64_MAX;
    size_t bytes = 0;
    uint64_t appended = 0;
    uint64_t encoded = 0;
    bool lacks_room = false;
    std::function<void()> room;
  };

  explicit window_store(size_t budget) : budget_(budget) {}
  bool make_room(uint64_t needs, const cached_block* but);
  void evict(window& of);
  static bool may_evict(const window& of);
  std::vector<std::function<void()>> who_lacks_room(uint64_t but);
  size_t share_locked() const { return budget_ / std::max<size_t>(windows_.size(), 1); }

  const size_t budget_;
  mutable std::mutex mutex_;
  std::map<uint64_t, window> windows_;
  uint64_t last_window_ = 0;
  uint64_t last_order_ = 0;
  size_t bytes_ = 0;
};

} // namespace headrace
