#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <map>
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

private:
  std::map<std::pair<uint32_t, uint64_t>, std::vector<answer>> answers_;
};

} // namespace headrace
