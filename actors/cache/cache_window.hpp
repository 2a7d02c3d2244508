#pragma once

#include "headrace/actors/cache/window_store.hpp"
#include "headrace/actors/protocol/cache_report.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headrace {

/// The newest blocks of one output, and where each of the trainers is in it that share it.
///
/// Elements have numbers without gaps. A trainer reads block after block; its place, which may hold
/// the window, is what it handed out. One that the window has left behind skips forward to the
/// oldest element that is there, and that is counted: what it handed out and what it skipped are
/// together all elements before its place. Pure.
class cache_window {
public:
  struct options {
    /// Unset: nobody waits for a trainer.
    std::optional<duration> wait;
    /// How long a trainer that is away counts as one that may be waited for.
    duration lease = std::chrono::seconds{5};
  };
  /// Larger blocks are cut, also where the budget would have room for few of them.
  static constexpr size_t most_block_bytes = size_t{256} << 10;
  static constexpr size_t least_blocks = 16;
  /// Trainers that are away and that are remembered.
  static constexpr size_t most_away = 1024;

  cache_window(std::shared_ptr<window_store> store, options how);
  cache_window(cache_window&&) = delete;
  ~cache_window();

  // -- trainers ---------------------------------------------------------------------------

  /// It is here, for the first time or again: one that is known goes on where it was.
  void join(const std::string& trainer, cache_start where);
  /// It is away: it holds the window for one more lease.
  void leave(const std::string& trainer, time_point now);
  /// All elements before this one were handed out, or are skipped.
  void handed_out(const std::string& trainer, uint64_t below);
  /// All that it has read was handed out, or is skipped.
  void handed_out_all(const std::string& trainer);
  /// So many elements that it was sent it is not given, as they are gone.
  void skipped(const std::string& trainer, uint64_t elements);
  size_t trainers() const noexcept { return trainers_.size(); }

  // -- elements ---------------------------------------------------------------------------

  struct reading {
    uint64_t first = 0; ///< elements before it
    std::shared_ptr<cached_block> rows;
    size_t from = 0; ///< its first row that is to be given
  };
  /// The next block for the trainer; none: it has all.
  std::optional<reading> read(const std::string& trainer);
  /// It has been given, or has skipped, all that there is.
  bool has_all(const std::string& trainer) const;

  enum class outcome { appended, no_room, too_large };
  /// Behind all others. no_room: the window is held for a trainer that is behind, or others of the
  /// store have all that may be had.
  outcome append(const block& rows, time_point now);
  /// How many of the first rows make a block; at least one.
  size_t rows_of_a_block(const block& rows) const;

  // -- time, state --------------------------------------------------------------------------

  /// When a trainer is waited for no more: to append may succeed then.
  std::optional<time_point> next_deadline() const;
  void look(time_point now);
  window_store::span span() const { return store_->of(id_); }
  size_t budget() const noexcept { return store_->budget(); }
  uint64_t skipped_by(const std::string& trainer) const {
    const auto at = trainers_.find(trainer);
    return at == trainers_.end() ? 0 : at->second.skipped;
  }
  uint64_t place_of(const std::string& trainer) const {
    const auto at = trainers_.find(trainer);
    return at == trainers_.end() ? end_ : at->second.place;
  }
  /// Of the trainers: as if all that they have read was handed out, and without their streams.
  cache_report report() const;
  void when_there_is_room(std::function<void()> call) {
    store_->when_there_is_room(id_, std::move(call));
  }

private:
  struct trainer {
    uint64_t next = 0;  ///< that it reads
    uint64_t place = 0; ///< `<= next`
    uint64_t skipped = 0;
    std::optional<time_point> away_since;
    /// It was waited for long enough: it is not again before it hands something out.
    bool given_up = false;
  };
  /// One that was forgotten, and is heard of all the same, has all that there is.
  trainer& of(const std::string& id);
  bool holds(const trainer& x, time_point now) const;
  void renew_hold(time_point now);
  void forget_the_longest_away();

  std::shared_ptr<window_store> store_;
  options options_;
  uint64_t id_;
  std::map<std::string, trainer> trainers_;
  uint64_t end_ = 0;
  uint64_t held_from_ = UINT64_MAX;
  std::optional<time_point> waits_since_; ///< to append, for a trainer
  time_point looked_at_{};
};

} // namespace headrace
