#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace headrace {

/// A task's question for splits. Questions about one pass of one source are numbered from 0, and
/// number n is asked again until it is answered: by another runner of the task, or when an answer
/// may have been lost.
struct split_question {
  uint32_t source = 0;
  uint64_t pass = 0;
  uint64_t number = 0;
  friend auto operator<=>(const split_question&, const split_question&) = default;
};

/// What a task that leaves has not begun to read of the last pass over a source that it came to.
struct unread_splits {
  uint32_t source = 0;
  uint64_t pass = 0;
  uint64_t answered = 0; ///< questions about that pass; a later answer is unread as a whole
  split_range rest;      ///< of the last answer; empty: all of that is read
  friend bool operator==(const unread_splits&, const unread_splits&) = default;
};

/// All answers that a task had from its job: splits, or the end of a pass (nullopt). With graph and
/// seed they determine everything that the task produces. Kept by pass, as sources that are read
/// ahead may ask in another order the next time.
class split_log {
public:
  using answer = std::optional<split_range>;

  /// The answer to the next question about that pass; what comes out of turn is ignored.
  void add(const split_question& asked, answer given) {
    auto& known = answers_[{asked.source, asked.pass}];
    if (known.size() == asked.number)
      known.push_back(given);
  }
  /// Null: not answered yet.
  const answer* find(const split_question& asked) const {
    auto at = answers_.find({asked.source, asked.pass});
    return at != answers_.end() && asked.number < at->second.size() ? &at->second[asked.number]
                                                                    : nullptr;
  }
  /// How many questions about that pass were answered.
  uint64_t count(uint32_t source, uint64_t pass) const {
    auto at = answers_.find({source, pass});
    return at != answers_.end() ? at->second.size() : 0;
  }
  /// The last pass of a source about which there is an answer.
  std::optional<uint64_t> last_pass(uint32_t source) const {
    auto after = answers_.lower_bound({source + 1, 0});
    if (after == answers_.begin() || (--after)->first.first != source)
      return {};
    return after->first.second;
  }
  /// The last answer is read up to there only. @pre it is splits, and `unread` a tail of them
  void cut(const unread_splits& unread) {
    if (unread.rest.count != 0)
      answers_.at({unread.source, unread.pass}).back()->count -= unread.rest.count;
  }

private:
  std::map<std::pair<uint32_t, uint64_t>, std::vector<answer>> answers_;
};

} // namespace headrace
