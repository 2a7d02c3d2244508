#pragma once

#include "headrace/actors/cache/window_store.hpp"
#include "headrace/actors/protocol/cache_report.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headrace::detail {

/// The newest blocks of one output, and the place of each trainer that shares it.
///
/// Elements are numbered without gaps. A trainer reads block after block; its place is the number
/// of elements that it was handed or that it skipped. If the window no longer has the trainer's
/// next element, the trainer skips to the oldest element in the window. If `options::wait` is set,
/// the window keeps a block until all trainers that it waits for were handed, or have skipped, the
/// elements of the block. Pure.
class cache_window {
public:
  struct options {
    /// How long the window waits for a trainer that is behind; unset: it never waits.
    std::optional<duration> wait;
    /// How long the window waits for a trainer that is away.
    duration lease = std::chrono::seconds{5};
    /// No trainer joins after the first element was appended, so blocks that all trainers were
    /// handed are freed at once.
    bool closed = false;
  };
  /// Blocks are cut so that each has one row, or takes at most `most_block_bytes` and at most 1 /
  /// `least_blocks` of the bytes that the store's budget allows for all windows.
  static constexpr size_t most_block_bytes = size_t{256} << 10;
  static constexpr size_t least_blocks = 16;
  /// The places of at most this many trainers that are away are remembered.
  static constexpr size_t most_away = 1024;

  cache_window(std::shared_ptr<window_store> store, options how);
  cache_window(cache_window&&) = delete;
  ~cache_window();

  // -- trainers ---------------------------------------------------------------------------

  /// A trainer joins, or comes back. A trainer that is remembered continues after the last element
  /// that it has read; a new one begins at `where`.
  void join(const std::string& trainer, cache_start where);
  /// A trainer is away from now on. The window may wait for the trainer until `options::lease` has
  /// passed.
  void leave(const std::string& trainer, time_point now);
  /// All elements before `below` were handed out or skipped.
  void handed_out(const std::string& trainer, uint64_t below);
  /// All elements that the trainer has read were handed out or skipped.
  void handed_out_all(const std::string& trainer);
  /// The trainer has read this many elements that it will not be handed: they were evicted before
  /// they were sent, or readers gave them back after later ones were handed out or sent elsewhere.
  void skipped(const std::string& trainer, uint64_t elements);
  /// The trainer was not handed the elements from `next` on, and reads them again. @pre the trainer
  /// has no streams, so no consumer has received these elements and may still hand them out
  void put_back(const std::string& trainer, uint64_t next);
  size_t trainers() const noexcept { return trainers_.size(); }

  // -- elements ---------------------------------------------------------------------------

  struct reading {
    uint64_t first = 0; ///< the number of elements before row `from` of the block
    std::shared_ptr<cached_block> rows;
    size_t from = 0; ///< the first row of the block that the trainer has not read
  };
  /// The next block for the trainer; nullopt: it has read everything.
  std::optional<reading> read(const std::string& trainer);
  /// True if the trainer has read or skipped everything.
  bool has_all(const std::string& trainer) const;

  enum class outcome { appended, no_room, too_large };
  /// Adds rows behind all others. no_room: the window keeps blocks for a trainer that is behind, or
  /// other windows have taken the budget.
  outcome append(const block& rows, time_point now);
  /// The window no longer needs the room for which `append` returned no_room.
  void needs_no_room();
  /// How many rows, from the first row on, fit into one block; at least one.
  size_t rows_of_a_block(const block& rows) const;

  // -- time, state --------------------------------------------------------------------------

  /// When the window ceases to wait for a trainer, so that `append` of this window or another one
  /// may succeed; nullopt: it does not wait.
  std::optional<time_point> next_deadline() const;
  /// Ceases to wait for trainers for which the window has waited long enough.
  void look(time_point now);
  window_store::span span() const { return store_->of(id_); }
  size_t budget() const noexcept { return store_->budget(); }
  uint64_t skipped_by(const std::string& trainer) const {
    const auto at = trainers_.find(trainer);
    return at == trainers_.end() ? 0 : at->second.skipped;
  }
  /// The next element that the trainer reads; nullopt: the window has forgotten the trainer.
  std::optional<uint64_t> next_of(const std::string& trainer) const {
    const auto at = trainers_.find(trainer);
    return at == trainers_.end() ? std::nullopt : std::optional{at->second.next};
  }
  uint64_t place_of(const std::string& trainer) const {
    const auto at = trainers_.find(trainer);
    return at == trainers_.end() ? end_ : at->second.place;
  }
  /// The state of the window. The caller must fill in how many streams each trainer has. Elements
  /// that a trainer has read count as handed out.
  cache_report report() const;
  void when_there_is_room(std::function<void()> call) {
    store_->when_there_is_room(id_, std::move(call));
  }

private:
  struct trainer {
    uint64_t next = 0;  ///< the next element that the trainer reads
    uint64_t place = 0; ///< `<= next`
    uint64_t skipped = 0;
    std::optional<time_point> away_since;
    /// The window has waited long enough for the trainer, and waits again only after the trainer
    /// was handed something.
    bool given_up = false;
  };
  /// The trainer with this id. A trainer that the window has forgotten is added again, as one that
  /// has read everything.
  trainer& of(const std::string& id);
  bool holds(const trainer& x, time_point now) const;
  void renew_hold(time_point now);
  void look_whether_pressed(time_point now);
  /// Frees the blocks that all trainers were handed.
  void free_passed();
  void forget_the_longest_away();

  std::shared_ptr<window_store> store_;
  options options_;
  uint64_t id_;
  std::map<std::string, trainer> trainers_;
  uint64_t end_ = 0;
  uint64_t held_from_ = UINT64_MAX;
  uint64_t freed_below_ = 0;
  std::optional<time_point> waits_since_; ///< since when `append` waits for a trainer
  /// Since when another window lacks room that this one has taken with the blocks that it keeps for
  /// trainers. The time is set anew when the oldest of them, which begins at `pressed_from_`, goes.
  std::optional<time_point> pressed_since_;
  uint64_t pressed_from_ = 0;
  bool lacks_room_ = false; ///< the last `append` returned no_room
  time_point looked_at_{};
};

} // namespace headrace::detail
