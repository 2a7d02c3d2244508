#pragma once

#include "headrace/pipeline/iterator/engine.hpp"
#include "headrace/pipeline/sources/make_listing.hpp"

namespace headrace::detail {

/// Says which splits a source reads next: all, in order, or what the context's provider gives.
class split_cursor {
public:
  /// `total`: splits in a pass.
  /// `listing`: what has these numbers, of a source that found it out; not needed where the splits
  /// are not shared.
  split_cursor(engine& shared, const place& at, uint64_t total,
               std::shared_ptr<const split_listing> listing = nullptr);
  /// What was not passed is for others.
  ~split_cursor() { close(); }
  split_cursor(const split_cursor&) = delete;

  /// The splits to read next: at least one; nullopt: this pass is over. Splits past the end are
  /// left out.
  result<std::optional<split_range>> here();
  /// The first `count` of them are being read. @pre `here` said that there are so many
  void pass(uint64_t count) noexcept {
    if (count != 0)
      passed_ = now_.first + count - 1;
    now_.first += count;
    now_.count -= count;
  }

  /// The source ends before its pass is over: what was not passed is for others. Once.
  void close();

  /// Tells the passes of the source apart, for what it draws anew in each: alike for all that share
  /// its splits. @pre `here` gave splits, or the position was restored
  uint64_t pass_key() const noexcept;
  /// Splits in a pass, as far as is known.
  uint64_t total() const noexcept { return total_; }
  /// There turned out to be no more than `total` splits.
  void end_at(uint64_t total) noexcept {
    total_ = std::min(total_, total);
    now_.first = std::min(now_.first, total_);
    now_.count = std::min(now_.count, total_ - now_.first);
  }

  /// Do rows carry origins?
  bool provided() const noexcept { return provided_; }
  /// The origin of `rows` rows from `split` on, each `step` splits from the one before.
  origin from(uint64_t split, size_t rows, uint64_t step) const noexcept {
    return {static_cast<uint32_t>(rows), source_, pass_, split, step};
  }

  /// Writes down the splits not passed yet. `reading`: the last one that was passed is not read to
  /// its end.
  void save_to(position& to, bool reading = false) const;
  /// A provider is asked from the beginning of the pass again, and answers as it did.
  void restore_from(position_reader& from);

private:
  result<split_answer> ask();

  engine& engine_;
  uint64_t iteration_;
  bool provided_ = false;
  bool counted_ = false; ///< a source of the graph, not of a function
  uint32_t source_ = 0;
  uint64_t pass_ = 0;
  uint64_t total_;
  std::shared_ptr<const split_listing> listing_;
  bool begun_ = false;             ///< the provider was asked
  bool over_ = false;              ///< nothing more is asked
  split_range now_;                ///< not passed yet
  std::optional<uint64_t> passed_; ///< the last split that was passed
  uint64_t asked_ = 0;             ///< answers that were had
  uint64_t repeat_ = 0;            ///< of them, those to be had again and passed over
};

} // namespace headrace::detail
