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

namespace headrace::detail {

class window_store;

/// One block of a window. When it is evicted, its rows are freed, even if others keep a pointer to
/// this object.
class cached_block final : public shared_rows, public block_forms {
public:
  std::optional<block> get() const override;
  size_t rows() const noexcept override { return rows_; }
  /// The bytes of the rows, without those of the written forms.
  size_t bytes() const noexcept override { return bytes_; }
  /// Returns the rows encoded as a message: a kept encoding, or a new one, which is kept with the
  /// block if the budget has room for it.
  std::shared_ptr<const written_block> written(const block& rows, block_encoding encoding) override;

private:
  friend class window_store;
  std::weak_ptr<window_store> store_;
  uint64_t window_ = 0;
  /// The number of the block in the order in which the store's blocks were added.
  uint64_t order_ = 0;
  uint64_t first_ = 0;
  size_t rows_ = 0;
  size_t bytes_ = 0;
  size_t charged_ = 0; ///< bytes of the budget that the block takes, with its written forms
  std::optional<block> content_;
  std::array<std::shared_ptr<const written_block>, 2> forms_;
};

/// The blocks of all windows of a worker, within one budget of bytes. To make room for a new block,
/// the oldest blocks of all windows are evicted, except those that their window holds. Thread-safe,
/// as the windows belong to different tasks.
class window_store : public std::enable_shared_from_this<window_store> {
public:
  static std::shared_ptr<window_store> make(size_t budget) {
    return std::shared_ptr<window_store>{new window_store{budget}};
  }

  /// Makes a new, empty window.
  uint64_t open();
  /// `call` is called, from any thread and without a lock, when there may be room for rows that the
  /// window could not append. It is also called when the window becomes pressed (`is_pressed`), and
  /// when blocks of the window were evicted for another window, but then only once until the caller
  /// reads the window's state with the function `of`.
  void when_there_is_room(uint64_t window, std::function<void()> call);
  void close(uint64_t window);

  /// The bytes of the budget that a block takes.
  static size_t charge_of(const block& rows);
  /// Appends rows, which get the numbers from `first` on. Null: held blocks leave no room for them,
  /// or, if `bounded` is true, the window would take more than an equal share of the budget. @pre
  /// charge_of(rows) <= budget()
  std::shared_ptr<cached_block> append(uint64_t window, uint64_t first, block rows, bool bounded);
  /// The window no longer needs the room that it lacked when `append` returned null.
  void needs_no_room(uint64_t window);
  /// True if another window, which takes no more than its share, could not append a block, and this
  /// window takes more than its share or the block is larger than a share. Then this window should
  /// hold fewer blocks within a bounded time.
  bool is_pressed(uint64_t window) const;
  /// Rows with this number or a higher one are not evicted. At first all rows may be evicted.
  void hold(uint64_t window, uint64_t from);
  /// Frees the blocks of the window in which every row has a number below `row`.
  void free_below(uint64_t window, uint64_t row);
  /// The block with that row; null: the row was evicted, or is not appended yet.
  std::shared_ptr<cached_block> find(uint64_t window, uint64_t row) const;

  static uint64_t first_of(const cached_block& x) noexcept { return x.first_; }

  struct span {
    uint64_t first = 0; ///< the oldest row; `end` if there is none
    uint64_t end = 0;
    size_t bytes = 0;
    uint64_t blocks = 0;  ///< total number of blocks that were appended
    uint64_t encoded = 0; ///< how often blocks of the window were encoded as messages, in total
  };
  span of(uint64_t window) const;

  size_t budget() const noexcept { return budget_; }
  /// The bytes that all windows take.
  size_t bytes() const;

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
    /// The bytes of the block that the window could not append although it takes no more than its
    /// share; 0: there is none.
    size_t starved_of = 0;
    std::function<void()> room;
    // Since `of` was called:
    mutable bool shrank = false;  ///< blocks of the window were evicted
    mutable bool noticed = false; ///< `room` was called because of that
  };

  explicit window_store(size_t budget) : budget_(budget) {}
  bool make_room(uint64_t needs, const cached_block* but);
  void evict(window& of);
  static bool may_evict(const window& of);
  /// True if `other` is pressed (`is_pressed`) because of `starved`.
  bool presses(const window& starved, const window& other) const;
  /// The callbacks of the windows that are pressed because of window `by`.
  std::vector<std::function<void()>> who_is_pressed(uint64_t by);
  std::vector<std::function<void()>> who_lacks_room(uint64_t but);
  std::vector<std::function<void()>> who_shrank(uint64_t but);
  /// The most bytes of a window whose blocks are appended with `bounded`. A window may always have
  /// one block, whatever its size. @pre the mutex is locked
  size_t share() const { return budget_ / std::max<size_t>(windows_.size(), 1); }

  const size_t budget_;
  mutable std::mutex mutex_;
  std::map<uint64_t, window> windows_;
  uint64_t last_window_ = 0;
  uint64_t last_order_ = 0;
  size_t bytes_ = 0;
};

} // namespace headrace::detail
