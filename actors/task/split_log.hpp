#pragma once

#include "headrace/actors/protocol/split_question.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::detail {

/// The answers that a task got from its job: splits, or the end of a pass. With the graph and the
/// seed they determine everything that the task produces. They are kept by pass, because sources
/// that are read ahead may send their questions in another order in a replay.
class split_log {
public:
  using answer = split_answer;

  /// Adds the answer to the next question about that pass. An answer to another question is
  /// ignored.
  void add(const split_question& asked, answer given) {
    auto& known = answers_[{asked.source, asked.pass}];
    if (known.count() != asked.number)
      return;
    known.kept.push_back(given);
    ++size_;
  }
  /// The answer; null: the question is not answered, or the answer was dropped.
  const answer* find(const split_question& asked) const {
    auto at = answers_.find({asked.source, asked.pass});
    if (at == answers_.end() || asked.number < at->second.dropped
        || asked.number >= at->second.count())
      return nullptr;
    return &at->second.kept[asked.number - at->second.dropped];
  }
  /// The number of questions about that pass that were answered. @pre the pass is not forgotten
  uint64_t count(uint32_t source, uint64_t pass) const {
    auto at = answers_.find({source, pass});
    return at != answers_.end() ? at->second.count() : 0;
  }
  /// The last pass of a source about which there is an answer.
  std::optional<uint64_t> last_pass(uint32_t source) const {
    auto after = answers_.lower_bound({source + 1, 0});
    if (after == answers_.begin() || (--after)->first.first != source)
      return {};
    return after->first.second;
  }
  /// Removes the unread splits of that pass. @pre they are the last ones in the answers
  void cut(const unread_splits& unread) {
    const auto at = answers_.find({unread.source, unread.pass});
    if (at == answers_.end())
      return;
    auto& known = at->second;
    while (known.count() > unread.answered && !known.kept.empty()) {
      known.kept.pop_back();
      --size_;
    }
    if (unread.rest.count != 0 && !known.kept.empty())
      known.kept.back()->count -= unread.rest.count;
  }
  /// Drops answers that are no longer needed: at once those about earlier passes of the source, and
  /// many at a time those to earlier questions about that pass.
  void forget_before(const split_question& where) {
    const auto pass = answers_.lower_bound({where.source, where.pass});
    for (auto at = answers_.lower_bound({where.source, 0}); at != pass; at = answers_.erase(at))
      size_ -= at->second.kept.size();
    if (pass == answers_.end() || pass->first != std::pair{where.source, where.pass})
      return;
    auto& [dropped, kept] = pass->second;
    const auto gone =
      std::min(where.number, pass->second.count()) - std::min(where.number, dropped);
    if (gone <= kept.size() / 2)
      return; // the answers are dropped later, many at a time
    kept.erase(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(gone));
    dropped += gone;
    size_ -= gone;
  }
  /// The number of kept answers.
  size_t size() const noexcept { return size_; }

private:
  struct told {
    uint64_t dropped = 0; ///< the number of dropped answers, which are the first ones
    std::vector<answer> kept;
    uint64_t count() const noexcept { return dropped + kept.size(); }
  };
  std::map<std::pair<uint32_t, uint64_t>, told> answers_;
  size_t size_ = 0;
};

} // namespace headrace::detail
