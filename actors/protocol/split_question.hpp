#pragma once

#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/pipeline/iterator/splits_done.hpp"

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

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

/// The answer to a question for splits. What is leased may be in many pieces, as where a lost
/// worker had read ahead in another order: each piece answers a question, and a round trip brings
/// many.
struct lease_answer {
  lease_answer() = default;
  lease_answer(const split_answer& what) : first(what) {}
  lease_answer(const split_range& what) : first(what) {}
  lease_answer(const pass_over& how) : first(how) {}

  /// Calls `f(question, answer)` for `asked` and for those after it that are answered, too.
  template <class F>
  void for_each(split_question asked, F&& f) const {
    f(asked, first);
    for (const auto& splits : more) {
      ++asked.number;
      f(asked, split_answer{splits});
    }
  }
  friend bool operator==(const lease_answer&, const lease_answer&) = default;

  split_answer first;
  std::vector<split_range>
    more; ///< of the same pass; each answers the question after the one before
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
  /// Elements so far that nobody is given as readers which are gone may have handed them out.
  uint64_t lost = 0;
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
  /// Beside a question: what the task is done with, and its readers. Of a job that reads splits of
  /// lost tasks again although rows of them may have been handed out.
  std::vector<splits_done> done = {};
};

} // namespace headrace
