#pragma once

#include "headrace/actors/task/split_log.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"

#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace headrace {

/// Gives the sources of one pipeline what their task was leased: first what the task was given
/// already, then the job's answers. In pieces, so that a task that leaves knows what is not begun.
/// Pure.
class split_dealer {
public:
  /// In how many pieces a lease is read. The same pieces for the same lease.
  static constexpr uint64_t pieces = 8;

  using next_step = std::variant<split_range, pass_over, split_question>;

  /// `known`: what was answered already; all of it counts as begun. `leaving`: nothing is asked.
  split_dealer(split_plan plan, split_log known, bool leaving);

  /// What a source reads next in a pass; or what is to be asked, before it is called again.
  next_step next(uint32_t source, uint64_t pass);
  /// The answer to what was to be asked.
  void answered(const split_question& which, const lease_answer& what) {
    what.for_each(which, [this](const auto& asked, const auto& given) { log_.add(asked, given); });
  }
  /// The source reads no more of that pass, which is not over; of the splits that it was given last
  /// it has not begun `unread`. Says what the job is to be told, once no source that advances with
  /// it reads on. What is told that is of a group is of all its sources.
  std::optional<unread_splits> close(uint32_t source, uint64_t pass, split_range unread);
  /// Every source came to the end of its last pass: no other task finds anything more to read.
  /// False of a pipeline that ended by itself, before its sources did.
  bool exhausted() const;
  /// From now on only what was begun is read to its end, also by sources that advance together.
  /// The rest is for other tasks.
  std::vector<unread_splits> leave();
  bool leaving() const noexcept { return leaving_; }
  /// Answers that are kept: few, however many there were.
  size_t records() const noexcept { return log_.size(); }

private:
  /// How far a source is.
  struct place {
    uint64_t pass = 0;
    uint64_t number = 0; ///< of its next question
    split_range left;    ///< of the last answer
    uint64_t piece = 0;
    bool over = false;   ///< that pass is
    bool closed = false; ///< nothing more is read of it
    bool told = false;   ///< the job is told so
  };
  /// Forgets what no source needs any more after `source` went on.
  void forget_read(uint32_t source);
  /// No other source advances with it.
  bool alone(uint32_t source) const;
  const std::vector<uint32_t>& group_of(uint32_t source) const;
  const split_log::answer* known(const split_question& which);
  unread_splits unread_of(uint32_t source) const;

  split_log log_;
  /// By source: how many answers about its last pass there were at first.
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> begun_;
  bool leaving_;
  std::vector<std::vector<uint32_t>> together_; ///< by source: those of its group, itself too
  std::map<uint32_t, place> places_;
};

} // namespace headrace
