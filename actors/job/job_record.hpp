#pragma once

#include "headrace/actors/job/iteration.hpp"
#include "headrace/actors/job/splits/held_rows.hpp"
#include "headrace/actors/job/splits/lease_history.hpp"
#include "headrace/actors/job/splits/split_assigner.hpp"
#include "headrace/actors/protocol/job_description.hpp"
#include "headrace/actors/protocol/job_past.hpp"
#include "headrace/actors/store/record_codec.hpp"

#include <deque>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace headrace::detail {

/// The durable state of one job: its repetitions, with their tasks, readers and splits. It changes
/// only by facts; the same facts make the same state.
class job_record {
public:
  /// A repetition begins. Its seed is random, and is stored so that a restarted job continues with
  /// it.
  struct begun {
    uint64_t seed = 0;
    friend bool operator==(const begun&, const begun&) = default;
  };
  /// The repetition is finished and no reader reads it: only its result is kept.
  struct forgotten {
    friend bool operator==(const forgotten&, const forgotten&) = default;
  };
  /// No reader has read the unfinished repetition for `job_gc_timeout`: it is removed as if it had
  /// never begun.
  struct collected {
    friend bool operator==(const collected&, const collected&) = default;
  };
  /// Something that happened in one repetition.
  struct fact {
    uint64_t repetition = 0;
    std::variant<begun, iteration::fact, split_assigner::fact, lease_history::fact, held_rows::fact,
                 forgotten, collected>
      what;
    friend bool operator==(const fact&, const fact&) = default;
  };
  struct repetition {
    iteration state;
    split_assigner splits;
    lease_history leases;
    uint64_t seed = 0;
    held_rows held = {};
    friend bool operator==(const repetition&, const repetition&) = default;
  };
  /// The losses of a repetition so far.
  iteration_losses losses_of(const repetition& r) const;

  /// `past`: repetitions that are finished when the job begins. `shards`: under a static policy,
  /// the number of shards.
  job_record(job_id id, sharding_policy mode, split_plan plan, const job_past& past = {},
             uint32_t shards = 0, delivery_guarantee guarantee = delivery_guarantee::at_most_once,
             reading_rule reads = {});

  void apply(const fact& what);
  /// Estimates the bytes that a fact takes in memory. The runs of splits in a receipt or an account
  /// are added, because there may be many.
  static size_t bytes_of(const fact& what);
  /// All facts that follow from a decision about a repetition's tasks, including those for its
  /// splits.
  std::vector<fact> facts_of(uint64_t number, const iteration::decision& decided) const;

  /// A fact `forgotten` for each finished repetition without readers, except the newest repetition.
  std::vector<fact> spent() const;
  /// The result of a forgotten repetition; nullopt: the repetition is not forgotten.
  std::optional<status> ended_as(uint64_t number) const;
  /// The part of the job that is kept when the job has ended: which repetitions are finished.
  job_past past() const;
  /// True if the repetition was collected lately, and has not begun again.
  bool was_collected(uint64_t number) const;
  /// True if the task belonged to a repetition that was collected lately.
  bool was_collected(task_id task) const;
  /// True if some repetition was collected, and is neither begun again nor finished.
  bool has_collected() const;

  /// The tasks that workers run or were ordered to run.
  std::vector<placed_task> running() const;

  std::map<uint64_t, repetition>& repetitions() noexcept { return repetitions_; }
  const std::map<uint64_t, repetition>& repetitions() const noexcept { return repetitions_; }

  friend bool operator==(const job_record& a, const job_record& b) {
    return a.repetitions_ == b.repetitions_ && a.over_ == b.over_ && a.over_below_ == b.over_below_
           && a.collected_ == b.collected_;
  }

private:
  friend struct record_codec<job_record>;
  /// The greatest number of collected repetitions of which the record has an entry.
  static constexpr size_t most_collected = 16;
  /// The most failed repetitions that are kept; an earlier one then counts as one that succeeded.
  static constexpr size_t most_failures = 1'000;
  struct gone {
    uint64_t repetition = 0;
    uint64_t family = 0; ///< the part that all task ids of the repetition have in common
    friend bool operator==(const gone&, const gone&) = default;
  };
  void forget(std::map<uint64_t, repetition>::iterator at);
  void collect(std::map<uint64_t, repetition>::iterator at);

  job_id id_;
  sharding_policy mode_;
  uint32_t shards_;
  split_plan plan_;
  delivery_guarantee guarantee_;
  reading_rule reads_;
  std::map<uint64_t, repetition> repetitions_;
  uint64_t over_below_ = 0; ///< all repetitions before this one are forgotten
  /// The outcomes of forgotten repetitions: of all from `over_below_` on, and of those before it
  /// that failed, at most `most_failures`.
  std::map<uint64_t, status> over_;
  std::deque<gone> collected_; ///< the repetitions that were collected last
};

} // namespace headrace::detail
