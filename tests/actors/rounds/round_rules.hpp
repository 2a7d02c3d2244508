#pragma once

#include "headrace/actors/protocol/job_parameters.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The rules of coordinated reads, by which the readings of trainers are judged.
namespace headrace::detail::test {

/// The elements that one trainer was given: in a world of coordinated reads, one element for each
/// round.
struct round_reading {
  std::string name;
  uint32_t index = 0;
  bool gone = false; ///< the trainer died, ended with an error, or left before its last round
  std::vector<uint64_t> rounds;
  std::vector<int64_t> elements;
  std::vector<int64_t> times = {}; ///< when each element was given, in nanoseconds

  /// The number of the trainer's last rounds that the trainer may not have reported to the job.
  uint64_t unreported() const;
};

/// The task that made an element, and a number of the element. Under OFF this is the element's
/// number in the output of the task; under a static policy, its number in the whole dataset; under
/// DYNAMIC, the number of the split from which it descends.
struct provenance {
  int64_t task = 0;
  int64_t number = 0;
};
provenance provenance_of(int64_t element);

/// A text about the first rule of coordinated reads that the readings violate; empty if there is no
/// violation. The readings are in the order in which the trainers joined. The successors of a
/// trainer are the later trainers with the same index: for a trainer that is gone, only the rounds
/// before those of its successors count. `shards`: the number of shards under a static policy.
std::string broken_rule(const std::vector<round_reading>& all, uint32_t consumers,
                        sharding_policy policy = sharding_policy::off, int64_t shards = 1);

/// How many rounds consumers that are gone have missed.
struct missed_rounds {
  /// The rounds between the last one of a consumer that is gone and the first one of the next
  /// consumer with its index.
  uint64_t sure = 0;
  /// More rounds that may have been missed: the last ones of consumers that are gone, which may be
  /// unreported, and, where no successor has come, the later rounds that other consumers have read.
  uint64_t perhaps = 0;
};
/// The readings are as for `broken_rule`.
missed_rounds missed_in(const std::vector<round_reading>& all, uint32_t consumers);

/// Returns an error text if the job counts fewer missed rounds than there are for certain, or,
/// unless its dispatcher died, more than there may be; else an empty text.
std::string miscounted(const missed_rounds& missed, uint64_t counted, bool dispatcher_died);

} // namespace headrace::detail::test
