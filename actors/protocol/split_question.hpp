#pragma once

#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/pipeline/iterator/splits_done.hpp"

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::detail {

/// A task's question for splits. The questions about one pass of one source are numbered from 0. A
/// question without an answer is sent again by the next runner of the task, and when the answer may
/// have been lost.
struct split_question {
  uint32_t source = 0; ///< the number of the source in depth-first order of the graph
  uint64_t pass = 0;   ///< the number of earlier passes of the source
  uint64_t number = 0;
  friend auto operator<=>(const split_question&, const split_question&) = default;
};

/// The answer to a question for splits. The leased splits may be many separate ranges, for instance
/// those between the splits that a lost worker had read. Each range answers one question, so this
/// message may answer many consecutive questions.
struct lease_answer {
  lease_answer() = default;
  lease_answer(const split_answer& what) : first(what) {}
  lease_answer(const split_range& what) : first(what) {}
  lease_answer(const pass_over& how) : first(how) {}

  /// Calls `f(question, answer)` for `asked` and for each later question that the message answers,
  /// too.
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
    more; ///< further splits of the pass, which answer the following questions, one question each
};

/// The splits of a pass that a task was leased and has not begun to read, when it leaves or closes
/// the pass.
struct unread_splits {
  uint32_t source = 0;
  uint64_t pass = 0;
  /// All splits in the answers to the questions from this number on are unread. In the answer
  /// before these, only the splits of `rest` are unread.
  uint64_t answered = 0;
  split_range rest; ///< empty if no split in that answer is unread
  friend bool operator==(const unread_splits&, const unread_splits&) = default;
};

/// The source in `splits_wish::which` of an account. No graph has a source of this number.
constexpr uint32_t account_source = UINT32_MAX;

/// The splits of which the readers of a task have handed out rows so far. The task sends an account
/// when some of its readers are gone. The rows that these readers had neither claimed nor handed
/// out are dealt to the remaining readers.
struct given_account {
  /// The version of the newest TaskReaders message that the task received: readers that the
  /// message does not name hand out nothing more.
  uint64_t version = 0;
  split_receipt splits;
  /// The total of elements that no reader is given, because readers that are gone may have handed
  /// them out.
  uint64_t lost = 0;
  friend bool operator==(const given_account&, const given_account&) = default;
};

/// A task's question for splits, or its report that it closes a pass, or its account. Each of these
/// is answered.
struct splits_wish {
  split_question which;
  /// The number of splits in a pass, if the source can determine it.
  std::optional<uint64_t> total = {};
  std::shared_ptr<const split_listing> listing = {}; ///< see `split_provider::next`
  /// Set: the task closes the pass of `which`, and other tasks may be leased these splits. The
  /// number in `which` is that of the next question about the pass, which will not be sent.
  std::optional<unread_splits> closes = {};
  /// Set: the message is not a question, but an account.
  std::optional<given_account> given = {};
  /// Sent with a question under `at_least_once`: the splits that are done.
  std::vector<splits_done> done = {};
};

} // namespace headrace::detail
