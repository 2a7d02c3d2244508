#pragma once

#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/pipeline/iterator/ports.hpp"

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>

namespace headrace {

/// A task's question for splits. Questions about one pass of one source are numbered from 0, and
/// number n is asked again until it is answered: by another runner of the task, or when an answer
/// may have been lost.
struct split_question {
  uint32_t source = 0; ///< in depth-first order of the graph
  uint64_t pass = 0;   ///< how often the source was started over
  uint64_t number = 0;
  friend auto operator<=>(const split_question&, const split_question&) = default;
};

/// What a task has not begun to read of a pass over a source: the last one that it came to, if the
/// task leaves, or one that its pipeline is done with.
struct unread_splits {
  uint32_t source = 0;
  uint64_t pass = 0;
  uint64_t answered = 0; ///< questions about that pass; a later answer is unread as a whole
  split_range rest;      ///< of the last answer; empty: all of that is read
  friend bool operator==(const unread_splits&, const unread_splits&) = default;
};

/// The source in the question that brings an account: that of no source.
constexpr uint32_t account_source = UINT32_MAX;

/// What the readers of a task were given so far, as the task says when some of them are gone: rows
/// of other splits, that these held, are for the others.
struct given_account {
  /// Of the TaskReaders that the task follows: readers that it does not name hand out nothing more.
  uint64_t version = 0;
  split_receipt splits;
  friend bool operator==(const given_account&, const given_account&) = default;
};

/// What a task asks its job; or, where it closes a pass or readers are gone, what the job must
/// know, which is answered, too.
struct splits_wish {
  split_question which;
  std::optional<uint64_t> total = {};                ///< splits in a pass, if the source knows
  std::shared_ptr<const split_listing> listing = {}; ///< see `split_provider::next`
  /// The task is done with that pass, which is not over; these are for others. The number of the
  /// question is that of the next one, which is never put.
  std::optional<unread_splits> closes = {};
  /// Nothing is asked: readers are gone, and the job must know what the task's readers were given.
  std::optional<given_account> given = {};
};

} // namespace headrace
