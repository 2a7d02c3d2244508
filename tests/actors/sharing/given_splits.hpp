#pragma once

#include "headrace/actors/protocol/split_question.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/iterator/ports.hpp"

#include "tests/pipeline/random/samples.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace headrace::detail::test::sharing {

/// The splits of each pass over each source that the job's answers gave to one task, and the pass
/// that each source is in. Both are computed from the rules of sharing, without any code of the
/// engine.
class given_splits {
public:
  using where = std::pair<uint32_t, uint64_t>; ///< source, pass

  explicit given_splits(split_plan plan) : plan_(std::move(plan)) {}

  // -- events -----------------------------------------------------------------

  void answered(uint32_t source, uint64_t pass, const split_answer& what) {
    auto& at = passes_[{source, pass}];
    if (what)
      at.ranges.push_back(*what.splits);
    else
      at.over = what.over;
  }
  /// Records that the task is about to leave. It does not read the splits in `unread`, even if it
  /// dies before its job is informed. Splits that one source has begun are read by all sources that
  /// advance together with that source.
  void leave(const std::vector<unread_splits>& unread) {
    leaves_ = true;
    for (const auto& one : unread) {
      const auto known = passes_.find({one.source, one.pass});
      if (known == passes_.end())
        continue;
      gave_back(one.source, one.pass, one.rest);
      const auto ranges = known->second.ranges;
      for (size_t i = one.answered; i < ranges.size(); ++i)
        gave_back(one.source, one.pass, ranges[i]);
    }
  }
  /// Removes splits that were given back, from all sources of the group.
  void gave_back(uint32_t source, uint64_t pass, const split_range& what) {
    for (uint32_t other = 0; other < plan_.sources.size(); ++other)
      if (plan_.sources[other].group == plan_.sources[source].group)
        for (auto i = what.first; i < what.first + what.count; ++i)
          passes_[{other, pass}].returned.insert(i);
  }

  // -- the reading of a task --------------------------------------------------

  /// Prepares for reading the task's splits again from the first one on.
  void rewind() {
    next_.clear();
    from_.clear();
    kept_.clear();
    starved_ = false;
  }
  /// Records that a source is started. Returns the pass that the source begins; `enter` may replace
  /// it by a later pass.
  uint64_t start(uint32_t source) { return next_[source]++; }
  /// The source requests its first splits of `pass`. Returns the pass that it reads: `pass`, or, if
  /// the task was sent that `pass` is over and forgotten, the pass that was running at that time.
  uint64_t enter(uint32_t source, uint64_t pass) {
    pass = std::max(pass, from_[source]);
    for (;;) {
      const auto at = passes_.find({source, pass});
      if (at == passes_.end() || !at->second.ranges.empty() || !at->second.over
          || at->second.over->running <= pass || !plan_.sources[source].passes)
        return pass;
      pass = at->second.over->running;
      for (uint32_t other = 0; other < plan_.sources.size(); ++other)
        if (plan_.sources[other].group == plan_.sources[source].group) {
          from_[other] = std::max(from_[other], pass);
          next_[other] = std::max(next_[other], pass + 1);
        }
    }
  }
  /// The splits of a pass, in order.
  std::vector<uint64_t> of(uint32_t source, uint64_t pass) const {
    std::vector<uint64_t> out;
    auto at = passes_.find({source, pass});
    for (uint32_t other = 0; leaves_ && other < plan_.sources.size(); ++other)
      if (const auto theirs = passes_.find({other, pass});
          plan_.sources[other].group == plan_.sources[source].group && theirs != passes_.end()
          && (at == passes_.end() || theirs->second.ranges.size() > at->second.ranges.size()))
        at = theirs;
    if (at == passes_.end())
      return out;
    for (const auto& range : at->second.ranges)
      for (auto i = range.first; i < range.first + range.count; ++i)
        if (!at->second.returned.contains(i))
          out.push_back(i);
    return out;
  }
  /// True if the task was sent the end of the pass. False if it was only sent that the pass is over
  /// and forgotten: then other tasks may have left splits of the pass unread.
  bool over(uint32_t source, uint64_t pass) const {
    const auto at = passes_.find({source, pass});
    return at != passes_.end() && at->second.over && at->second.over->running == 0;
  }
  /// The last pass for which there are splits or an end.
  uint64_t last_pass(uint32_t source) const {
    auto at = passes_.upper_bound({source, UINT64_MAX});
    return at == passes_.begin() || (--at)->first.first != source ? 0 : at->first.second;
  }
  /// The number of passes of the source that were started, or skipped because they were over.
  uint64_t started(uint32_t source) { return next_[source]; }
  /// The elements that a cache in memory keeps; null: it is not filled yet.
  const random::elements* kept(const void* cache) const {
    const auto at = kept_.find(cache);
    return at != kept_.end() ? &at->second : nullptr;
  }
  void keep(const void* cache, random::elements rows) { kept_.try_emplace(cache, std::move(rows)); }
  /// Records that a dataset without end gave no more elements, because its splits were used up.
  void starve() { starved_ = true; }
  bool starved() const { return starved_; }
  /// Sets `starved()` back to `was`, after the test has read further than the task does.
  void starved(bool was) { starved_ = was; }

private:
  struct one_pass {
    std::vector<split_range> ranges;
    std::set<uint64_t> returned;
    std::optional<pass_over> over;
  };
  split_plan plan_;
  std::map<where, one_pass> passes_;
  std::map<uint32_t, uint64_t> next_, from_;
  std::map<const void*, random::elements> kept_;
  bool starved_ = false;
  bool leaves_ = false;
};

} // namespace headrace::detail::test::sharing
