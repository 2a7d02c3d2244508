#pragma once

#include "headrace/actors/task/split_log.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"

#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::detail {

/// Gives the sources of one pipeline the splits that their task was leased: first those of the log,
/// then those of the job's answers. A source that is alone in its group is given a lease in pieces,
/// so that a task that leaves can give back the pieces that are not begun. Pure.
class split_dealer {
public:
  /// The number of pieces of a lease. A lease has the same pieces in each replay.
  static constexpr uint64_t pieces = 8;

  using next_step = std::variant<split_range, pass_over, split_question>;

  /// `known`: the answers so far; their splits count as begun. `leaving`: no questions are sent.
  split_dealer(split_plan plan, split_log known, bool leaving);

  /// Returns the splits that a source reads next in a pass, or a question that must be answered
  /// before the next call.
  next_step next(uint32_t source, uint64_t pass);
  /// The answer to a question that `next` returned.
  void answered(const split_question& which, const lease_answer& what) {
    what.for_each(which, [this](const auto& asked, const auto& given) { log_.add(asked, given); });
  }
  /// The source reads no more of that pass, which is not over. It has not begun `unread` of the
  /// splits that it was given last. When no source of the group continues to read the pass,
  /// returns the report for the job, which is for all sources of the group.
  std::optional<unread_splits> close(uint32_t source, uint64_t pass, split_range unread);
  /// True if every source has reached the end of its last pass, so that another task would get no
  /// splits. False for a pipeline that ended before its sources did.
  bool exhausted() const;
  /// The task leaves: from now on a source reads only splits that it has begun, or that another
  /// source of its group was given. Returns the unread splits, which the job may lease to other
  /// tasks.
  std::vector<unread_splits> leave();
  bool leaving() const noexcept { return leaving_; }
  /// The number of kept answers, which is bounded.
  size_t records() const noexcept { return log_.size(); }

private:
  /// The position of a source.
  struct place {
    uint64_t pass = 0;
    uint64_t number = 0; ///< the number of its next question
    split_range left;    ///< the remaining splits of the last answer
    uint64_t piece = 0;
    bool over = false;   ///< the pass is over
    bool closed = false; ///< the source reads no more of the pass
    bool told = false;   ///< the job was sent the report that the source closed the pass
  };
  /// Drops the answers that no source needs after `source` has continued.
  void forget_read(uint32_t source);
  /// True if the source has a group of its own.
  bool alone(uint32_t source) const;
  const std::vector<uint32_t>& group_of(uint32_t source) const;
  const split_log::answer* known(const split_question& which);
  unread_splits unread_of(uint32_t source) const;

  split_log log_;
  /// By source: its last pass in the constructor's `known`, and the number of answers about it.
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> begun_;
  bool leaving_;
  /// By source: the sources of its group, including itself.
  std::vector<std::vector<uint32_t>> together_;
  std::map<uint32_t, place> places_;
};

} // namespace headrace::detail
