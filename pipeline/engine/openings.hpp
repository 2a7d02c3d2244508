#pragma once

#include "headrace/pipeline/engine/engine.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"

#include <deque>

namespace headrace::detail {

/// The iterators that an operator opens one after another. If the order of their rows depends on
/// time, a position of the operator also contains the first positions of the iterators that it
/// opened after that position; a restored operator opens these iterators in the same order.
class openings {
public:
  /// `opens`: the graph of the iterators.
  openings(engine& shared, const dataset_node& opens) : keeps_(shared.reorders(opens)) {}

  /// True if the order of the iterators depends on time.
  bool keeps() const noexcept { return keeps_; }
  /// True if the next iterator is *planned*: the position from which the operator was restored
  /// contains the position at which that iterator began.
  bool planned() const noexcept { return !planned_.empty(); }
  /// Must be called for each iterator that the operator opens, before the iterator's first row is
  /// read; null: an iterator could not be opened. A planned iterator is restored. If an error is
  /// returned, the data has changed and the iteration must end.
  status add(iterator* opened) {
    if (!planned_.empty()) {
      const auto at = std::move(planned_.front());
      planned_.pop_front();
      if ((opened != nullptr) != (at != nullptr))
        return data_changed();
      if (at)
        if (auto failed = opened->restore(*at); !failed.ok())
          return failed.with_context("restore").that_ends_run();
    }
    if (keeps_)
      log_.add(opened != nullptr ? opened->save() : nullptr);
    return {};
  }

  /// Appends the number of planned iterators, and their positions as the last parts of `to`. When
  /// `to` is stored, the first positions of all iterators that were opened by then, from the mark
  /// `to.later` in the log on, follow as further parts; the planned iterators come first in these.
  void save_to(position& to) const {
    if (!keeps_)
      return;
    to.numbers.push_back(planned_.size());
    to.parts.insert(to.parts.end(), planned_.begin(), planned_.end());
    to.later = log_.now();
  }
  /// Reads all remaining parts of the position. An iterator that was planned at the position and
  /// was opened after it has two parts, of which only the second is used. Positions of older builds
  /// have no parts for planned iterators.
  void restore(position_reader& from) {
    if (!keeps_ || !from.has_number())
      return;
    std::vector<position_ptr> planned;
    for (auto left = from.number(); left != 0 && from.has_part(); --left)
      planned.push_back(from.part());
    while (from.has_part()) planned_.push_back(from.part());
    for (auto i = planned_.size(); i < planned.size(); ++i) planned_.push_back(planned[i]);
  }

  /// The log that contains the opened iterators. The operator may add its other choices to the log.
  choice_log& log() noexcept { return log_; }
  const choice_log& log() const noexcept { return log_; }

private:
  const bool keeps_;
  std::deque<position_ptr> planned_; ///< the positions to which the next iterators are restored
  choice_log log_;
};

} // namespace headrace::detail
