#pragma once

#include "headrace/actors/job/held_rows.hpp"
#include "headrace/actors/job/iteration.hpp"
#include "headrace/actors/job/lease_history.hpp"
#include "headrace/actors/job/split_assigner.hpp"
#include "headrace/actors/protocol/job_description.hpp"
#include "headrace/actors/store/record_codec.hpp"

#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace headrace {

/// The durable state of one job: its repetitions, with their tasks, readers and splits. Changes
/// only by facts; the same facts make the same state.
class job_record {
public:
  /// A repetition begins. Its seed is drawn once.
  struct begun {
    uint64_t seed = 0;
    friend bool operator==(const begun&, const begun&) = default;
  };
  /// It is finished and nobody reads it: all that stays is how it ended.
  struct forgotten {
    friend bool operator==(const forgotten&, const forgotten&) = default;
  };
  /// Something that happened in one repetition.
  struct fact {
    uint64_t repetition = 0;
    std::variant<begun, iteration::fact, split_assigner::fact, lease_history::fact, held_rows::fact,
                 forgotten>
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
  /// What of a repetition is lost so far.
  iteration_losses losses_of(const repetition& r) const;

  job_record(job_id id, sharding_policy mode, split_plan plan)
    : id_(id), mode_(mode), plan_(std::move(plan)) {}

  void apply(const fact& what);
  /// About what a fact takes in memory where that may be much: receipts.
  static size_t bytes_of(const fact& what);
  /// All that a decision about a repetition's tasks means, for its splits, too.
  std::vector<fact> facts_of(uint64_t number, const iteration::decision& decided) const;

  /// Facts that forget what is finished and not read, but for the newest repetition.
  std::vector<fact> spent() const;
  /// How a forgotten repetition ended; nullopt: it is not forgotten.
  std::optional<status> ended_as(uint64_t number) const;

  /// The tasks that workers run, or are about to.
  std::vector<placed_task> running() const;

  std::map<uint64_t, repetition>& repetitions() noexcept { return repetitions_; }
  const std::map<uint64_t, repetition>& repetitions() const noexcept { return repetitions_; }

  friend bool operator==(const job_record& a, const job_record& b) {
    return a.repetitions_ == b.repetitions_ && a.over_ == b.over_ && a.over_below_ == b.over_below_;
  }

private:
  friend struct record_codec<job_record>;
  void forget(std::map<uint64_t, repetition>::iterator at);

  job_id id_;
  sharding_policy mode_;
  split_plan plan_;
  std::map<uint64_t, repetition> repetitions_;
  uint64_t over_below_ = 0;         ///< all before are forgotten
  std::map<uint64_t, status> over_; ///< those behind, and those that failed
};

} // namespace headrace
