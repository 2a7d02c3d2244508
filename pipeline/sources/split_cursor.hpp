#pragma once

#include "headrace/pipeline/engine/engine.hpp"
#include "headrace/pipeline/sources/make_listing.hpp"

namespace headrace::detail {

/// Decides which splits a source reads next: all splits in order, or the splits that the context's
/// split provider gives.
class split_cursor {
public:
  /// `total`: the number of splits in a pass. `listing`: as for `split_provider::next`; not needed
  /// if the splits are not shared.
  split_cursor(engine& shared, const place& at, uint64_t total,
               std::shared_ptr<const split_listing> listing = nullptr);
  /// Splits that were not passed go back to the provider.
  ~split_cursor() { close(); }
  split_cursor(const split_cursor&) = delete;

  /// The splits to read next: at least one; nullopt: this pass is over. Splits past the end are
  /// left out.
  result<std::optional<split_range>> here();
  /// Marks the next `count` splits as being read. @pre `here` returned at least so many
  void pass(uint64_t count) noexcept {
    if (count != 0)
      passed_ = now_.first + count - 1;
    now_.first += count;
    now_.count -= count;
  }

  /// Ends the source, also before its pass is over: splits that were not passed go back to the
  /// provider. Only the first call has an effect.
  void close();

  /// A key that differs between the passes of the source, for random numbers that are drawn anew in
  /// each pass. It is equal in all runs that share the splits. @pre `here` returned splits, or the
  /// position was restored
  uint64_t pass_key() const noexcept;
  /// The next split that is known, or the one after the last.
  uint64_t next() const noexcept { return now_.first; }
  /// The number of splits in a pass, as far as it is known.
  uint64_t total() const noexcept { return total_; }
  /// Ends the passes after `total` splits, if that is fewer than before.
  void end_at(uint64_t total) noexcept {
    total_ = std::min(total_, total);
    now_.first = std::min(now_.first, total_);
    now_.count = std::min(now_.count, total_ - now_.first);
  }

  /// True if a split provider gives the splits; the rows must then have origins.
  bool provided() const noexcept { return provided_; }
  /// The origin of `rows` rows: the first row descends from split `split`, each further row from
  /// the split that is `step` after the split of the previous row.
  origin from(uint64_t split, size_t rows, uint64_t step) const noexcept {
    return {static_cast<uint32_t>(rows), source_, pass_, split, step};
  }

  /// Saves the splits that were not passed yet. `reading`: the last passed split was not read to
  /// its end.
  void save_to(position& to, bool reading = false) const;
  /// Continues at a position. The provider repeats its answers from the beginning of the pass on,
  /// so the first answers are dropped: as many as had been used before the position was saved.
  void restore_from(position_reader& from);

private:
  result<split_answer> ask();

  engine& engine_;
  uint64_t iteration_;
  bool provided_ = false;
  bool counted_ = false; ///< the source has a number: it is not in a function, and not read whole
  uint32_t source_ = 0;
  uint64_t pass_ = 0;
  uint64_t total_;
  std::shared_ptr<const split_listing> listing_;
  bool begun_ = false;             ///< splits were requested from the provider
  bool over_ = false;              ///< no further splits are requested
  split_range now_;                ///< the splits not passed yet
  std::optional<uint64_t> passed_; ///< the last split that was passed
  uint64_t asked_ = 0;             ///< the number of answers so far
  uint64_t repeat_ = 0; ///< the number of answers to request again, and drop, after a restore
};

} // namespace headrace::detail
