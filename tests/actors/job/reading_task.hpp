#pragma once

#include "headrace/actors/job/splits/split_assigner.hpp"
#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/actors/task/split_dealer.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace::detail::test {

/// The sources of a random graph: single sources, zipped sources that advance together, and zipped
/// sources that do not advance together.
struct random_plan {
  struct part {
    std::vector<uint32_t> sources; ///< the sources that are read side by side
    bool aligned = false;
  };

  random_plan(std::mt19937_64& random, uint64_t most_splits) : passes(random() % 3 + 1) {
    const auto sources = static_cast<uint32_t>(random() % 4 + 1);
    for (uint32_t next = 0; next < sources;) {
      const auto most = std::min<uint64_t>(3, sources - next);
      part one{{}, random() % 2 == 0};
      const auto count =
        one.aligned ? random() % most + 1 : random() % std::min<uint64_t>(most, 2) + 1;
      const bool zipped = count > 1;
      for (uint64_t i = 0; i < count; ++i) {
        // Sources of one part often have equally many splits: all of these are used up at the same
        // time, and a task that lacks a row's partner waits for the tasks that have unread splits.
        const bool as_before = i != 0 && random() % 2 == 0;
        const auto splits = as_before ? totals.back() : random() % (most_splits + 1);
        // If the plan lacks the total of a source, the tasks report it.
        const auto known = random() % 4 == 0 ? std::nullopt : std::optional{splits};
        if (i == 0 || !one.aligned)
          ++what.groups;
        what.sources.push_back({.splits = known,
                                .group = what.groups - 1,
                                .zipped = zipped,
                                .behind = static_cast<uint32_t>(i)});
        totals.push_back(splits);
        one.sources.push_back(next++);
      }
      one.aligned |= count == 1;
      parts.push_back(std::move(one));
    }
  }
  const part& part_of(uint32_t source) const {
    return *std::ranges::find_if(
      parts, [&](const auto& x) { return std::ranges::count(x.sources, source) != 0; });
  }
  /// The smallest number of splits among the source and the sources that advance together with it.
  uint64_t common(uint32_t source) const {
    auto out = totals[source];
    if (const auto& x = part_of(source); x.aligned)
      for (auto other : x.sources) out = std::min(out, totals[other]);
    return out;
  }

  /// True if sources advance together wherever they are read side by side.
  bool aligned() const {
    return std::ranges::all_of(parts, [](const auto& x) { return x.aligned; });
  }

  split_plan what;
  std::vector<uint64_t> totals; ///< the number of splits, by source
  std::vector<part> parts;
  uint64_t passes;
};

/// Counts for each split how often it was read, lost with a task, or skipped.
class split_ledger {
public:
  enum fate : size_t { was_read, was_lost, was_skipped };

  explicit split_ledger(const random_plan& plan) : plan_(plan) {
    for (uint32_t source = 0; source < plan.totals.size(); ++source)
      for (uint64_t pass = 0; pass < plan.passes; ++pass)
        counts_[{source, pass}].resize(plan.totals[source]);
  }
  void add(fate how, uint32_t source, uint64_t pass, uint64_t split) {
    ++counts_.at({source, pass}).at(split).at(how);
  }
  /// Checks that each split was read once, as far as that is guaranteed. `left`: a task left or was
  /// lost, so that splits that were returned may find no partner in a zip.
  void check(bool left) const {
    for (const auto& part : plan_.parts)
      for (uint64_t pass = 0; pass < plan_.passes; ++pass) {
        bool one_is_through = false;
        for (auto source : part.sources) {
          const auto once = often(source, pass, 1);
          one_is_through |= once == plan_.totals[source];
          EXPECT_EQ(once + often(source, pass, 0), plan_.totals[source])
            << "given out twice: source " << source << ", pass " << pass;
          const auto& all = counts_.at({source, pass});
          if (!part.aligned && !left) {
            auto shortest = plan_.totals[source];
            for (auto other : part.sources) shortest = std::min(shortest, plan_.totals[other]);
            EXPECT_EQ(std::ranges::count_if(all, [](const auto& x) { return x[was_read] != 0; }),
                      static_cast<int64_t>(shortest))
              << "rows of a zip without a partner: source " << source << ", pass " << pass;
          }
          if (!part.aligned)
            continue;
          for (uint64_t i = 0; i < plan_.common(source); ++i)
            ASSERT_EQ(all[i][was_read] + all[i][was_lost], 1u)
              << "neither read nor lost with a task: split " << i << " of source " << source
              << ", pass " << pass;
        }
        EXPECT_TRUE(one_is_through || (left && !part.aligned))
          << "a zip ended, and neither side was read to its end";
      }
  }

private:
  uint64_t often(uint32_t source, uint64_t pass, uint32_t times) const {
    return static_cast<uint64_t>(
      std::ranges::count_if(counts_.at({source, pass}), [&](const auto& x) {
        return x[was_read] + x[was_lost] + x[was_skipped] == times;
      }));
  }

  const random_plan& plan_;
  std::map<std::pair<uint32_t, uint64_t>, std::vector<std::array<uint32_t, 3>>> counts_;
};

/// A task that reads the parts of a `random_plan` in random order. Its `split_dealer` gives it the
/// splits.
class reading_task {
public:
  reading_task(const random_plan& plan, split_ledger& ledger)
    : plan_(&plan), ledger_(&ledger), dealer_(plan.what, {}, false), passes_(plan.parts.size()) {
    look_if_ended();
  }

  bool ended() const { return ended_; }
  bool leaving() const { return dealer_.leaving(); }
  /// The unanswered question of the task, as a request to the job; nullopt: there is none.
  std::optional<lease_request> asks(task_id as) const {
    if (!asked_ || heard_of_)
      return {};
    const auto known = plan_->what.sources[asked_->source].splits;
    return lease_request{as, asked_->source, asked_->pass,
                         known ? std::nullopt : std::optional{plan_->totals[asked_->source]},
                         asked_->number};
  }
  /// Records the job's answer, which the task receives in its next step, or never.
  void answered(const lease_answer& given) {
    heard_of_ = true;
    answer_ = given;
    leased(*asked_, given);
  }
  /// Records the splits of the job's answer as held by the task.
  void leased(const split_question& asked, const lease_answer& given) {
    given.for_each(asked, [this](const split_question& which, const split_answer& splits) {
      if (splits)
        lease(which.source, which.pass, *splits);
    });
  }
  void step(std::mt19937_64& random) {
    if (heard_of_)
      hear();
    if (asked_ || ended_)
      return;
    while (!part_) {
      const auto next = random() % passes_.size();
      if (passes_[next] < plan_->passes)
        part_ = next;
    }
    const auto& sources = plan_->parts[*part_].sources;
    const auto pass = passes_[*part_];
    for (auto source : sources)
      while (queues_[source].empty()) {
        const auto next = dealer_.next(source, pass);
        if (std::holds_alternative<split_question>(next)) {
          asked_ = std::get<split_question>(next);
          return;
        }
        if (std::holds_alternative<pass_over>(next))
          return pass_ends(source);
        const auto& splits = std::get<split_range>(next);
        for (uint64_t i = splits.first; i < splits.first + splits.count; ++i)
          if (i < plan_->totals[source])
            queues_[source].push_back(i);
      }
    auto most = queues_[sources[0]].size();
    for (auto source : sources) most = std::min(most, queues_[source].size());
    for (auto rows = random() % std::min<size_t>(most, 16) + 1; rows != 0; --rows) {
      for (auto source : sources) {
        const auto split = queues_[source].front();
        if (plan_->parts[*part_].aligned) {
          EXPECT_EQ(split, queues_[sources.back()].front()) << "out of step";
        }
        done_with(source, pass, split, split_ledger::was_read);
      }
      for (auto source : sources) queues_[source].pop_front();
    }
    part_.reset();
  }
  /// The passes that the task has closed since the last call.
  std::vector<unread_splits> closed() { return std::exchange(closed_, {}); }
  /// The task begins to leave. Returns the splits that it has not begun; it reads the splits that
  /// it has begun in further steps.
  std::vector<unread_splits> leave() {
    asked_.reset();
    heard_of_ = false;
    return dealer_.leave();
  }
  /// Records that the job has returned these splits of the task to the assigner.
  void gave_back(const split_assigner::returned& what) {
    for_each_of(plan_->what.sources[what.source].group, what.splits,
                [&](uint32_t source, uint64_t split) {
                  const auto was_held = held_[{source, what.pass}].erase(split) == 1;
                  EXPECT_TRUE(was_held) << "it was read here";
                });
  }
  /// The receipt of a reader that got all rows of the task.
  split_receipt receipt(task_id as) const {
    split_receipt out{.task = as};
    for (const auto& [where, splits] : read_)
      for (auto split : splits) out.reached.push_back({where.second, where.first, {split, 1}});
    return out;
  }
  /// Records that the task is over, after it gave back its unread splits. The splits that it still
  /// holds are splits whose rows were dropped by zips when these ended.
  void finish() {
    for (auto& [where, splits] : std::exchange(held_, {}))
      for (auto split : splits) skipped(where.first, where.second, split);
  }
  /// Records that the task is lost, with all splits that it held.
  void lose() {
    for (auto& [where, splits] : std::exchange(held_, {}))
      for (auto split : splits)
        ledger_->add(split_ledger::was_lost, where.first, where.second, split);
  }

private:
  void lease(uint32_t source, uint64_t pass, const split_range& given) {
    EXPECT_NE(given.count, 0u);
    const auto group = plan_->what.sources[source].group;
    if (!leases_.emplace(group, pass, given.first).second)
      return;
    for_each_of(group, given, [&](uint32_t of, uint64_t split) {
      const auto fresh = held_[{of, pass}].insert(split).second;
      EXPECT_TRUE(fresh);
    });
  }
  /// Calls `f` for each source of the group and each split of the range that this source has.
  template <class F>
  void for_each_of(uint32_t group, const split_range& of, F&& f) {
    for (uint32_t source = 0; source < plan_->totals.size(); ++source) {
      if (plan_->what.sources[source].group != group)
        continue;
      for (auto i = of.first; i < std::min(of.first + of.count, plan_->totals[source]); ++i)
        f(source, i);
    }
  }
  void hear() {
    heard_of_ = false;
    dealer_.answered(*std::exchange(asked_, {}), answer_);
  }
  void done_with(uint32_t source, uint64_t pass, uint64_t split, split_ledger::fate how) {
    EXPECT_EQ((held_.at({source, pass}).erase(split)), 1u) << "it was not leased this";
    ledger_->add(how, source, pass, split);
    read_[{pass, source}].insert(split);
  }
  void skipped(uint32_t source, uint64_t pass, uint64_t split) {
    if (plan_->part_of(source).aligned) {
      EXPECT_GE(split, plan_->common(source)) << "sources that advance together were left apart";
    }
    ledger_->add(split_ledger::was_skipped, source, pass, split);
  }
  // A zip ends when one of its sources, `ended`, has no more splits. The queued splits of the
  // sources before `ended` count as read, although the zip drops their rows; the queued splits of
  // the sources after `ended` are unread.
  void pass_ends(uint32_t ended) {
    const auto pass = passes_[*part_];
    for (auto source : plan_->parts[*part_].sources) {
      auto& queue = queues_[source];
      const auto unread =
        source > ended && !queue.empty() ? split_range{queue.front(), queue.size()} : split_range{};
      queue.clear();
      if (const auto told = dealer_.close(source, pass, unread))
        closed_.push_back(*told);
    }
    ++passes_[*part_];
    part_.reset();
    look_if_ended();
  }
  void look_if_ended() {
    ended_ = std::ranges::all_of(passes_, [&](auto x) { return x == plan_->passes; });
  }

  const random_plan* plan_;
  split_ledger* ledger_;
  split_dealer dealer_;
  std::vector<uint64_t> passes_; ///< the present pass, by part
  std::optional<size_t> part_;   ///< set in the middle of a row: the part to which the row belongs
  std::map<uint32_t, std::deque<uint64_t>> queues_;
  std::optional<split_question> asked_;
  bool heard_of_ = false; ///< `answer_` has arrived, and the task has not processed it yet
  std::vector<unread_splits> closed_;
  lease_answer answer_;
  std::set<std::tuple<uint32_t, uint64_t, uint64_t>> leases_;        ///< group, pass, first split
  std::map<std::pair<uint32_t, uint64_t>, std::set<uint64_t>> held_; ///< by source and pass
  std::map<std::pair<uint64_t, uint32_t>, std::set<uint64_t>> read_; ///< by pass and source
  bool ended_ = false;
};

} // namespace headrace::detail::test
