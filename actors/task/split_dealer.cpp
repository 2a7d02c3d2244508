#include "headrace/actors/task/split_dealer.hpp"

#include <algorithm>

namespace headrace::detail {

split_dealer::split_dealer(split_plan plan, split_log known, bool leaving)
  : log_(std::move(known)), leaving_(leaving), together_(plan.sources.size()) {
  for (uint32_t a = 0; a < plan.sources.size(); ++a)
    for (uint32_t b = 0; b < plan.sources.size(); ++b)
      if (plan.sources[a].group == plan.sources[b].group)
        together_[a].push_back(b);
  for (uint32_t source = 0; source < together_.size(); ++source)
    if (const auto pass = log_.last_pass(source))
      begun_[source] = {*pass, log_.count(source, *pass)};
}

bool split_dealer::alone(uint32_t source) const {
  return source >= together_.size() || together_[source].size() == 1;
}

const split_log::answer* split_dealer::known(const split_question& which) {
  if (const auto* found = log_.find(which); found != nullptr || !leaving_ || alone(which.source))
    return found;
  // When the task leaves, a source still reads the splits that another source of its group was
  // given, so that the sources of the group stay in step.
  for (auto other : together_[which.source])
    if (const auto* found = log_.find({other, which.pass, which.number})) {
      log_.add(which, *found);
      return log_.find(which);
    }
  return nullptr;
}

split_dealer::next_step split_dealer::next(uint32_t source, uint64_t pass) {
  auto& at = places_[source];
  if (at.pass != pass)
    at = {.pass = pass};
  while (at.left.count == 0) {
    const split_question which{source, pass, at.number};
    const auto* given = known(which);
    if (given == nullptr)
      // A task that leaves ends its pass here, and sends no more questions.
      return leaving_ ? next_step{pass_over{.alone = true}} : which;
    const auto answer = *given;
    ++at.number;
    forget_read(source);
    if (!answer) {
      at.over = true;
      return answer.over;
    }
    at.left = *answer;
    at.piece =
      alone(source) ? at.left.count / pieces + (at.left.count % pieces != 0) : at.left.count;
  }
  const split_range out{at.left.first, std::min(at.left.count, at.piece)};
  at.left = {at.left.first + out.count, at.left.count - out.count};
  return out;
}

void split_dealer::forget_read(uint32_t source) {
  const std::vector<uint32_t> itself{source};
  const auto& group = alone(source) ? itself : together_[source];
  auto slowest = std::pair{places_[source].pass, places_[source].number};
  for (auto other : group)
    slowest = std::min(slowest, std::pair{places_[other].pass, places_[other].number});
  // The last answer is kept, because part of it may be given back.
  for (auto other : group)
    log_.forget_before({other, slowest.first, slowest.second - (slowest.second != 0)});
}

unread_splits split_dealer::unread_of(uint32_t source) const {
  const auto at = places_.find(source);
  unread_splits out{source, std::max(at != places_.end() ? at->second.pass : 0,
                                     log_.last_pass(source).value_or(0))};
  out.answered = log_.count(source, out.pass);
  const auto here = at != places_.end() && at->second.pass == out.pass ? at->second : place{};
  // In a group, each source will read all splits that any source was given: none of them is unread.
  if (!alone(source) || here.closed)
    return out;
  // Splits that an earlier runner was given count as begun, because their rows may have been dealt.
  const auto begun = begun_.find(source);
  const auto before =
    begun != begun_.end() && begun->second.first == out.pass ? begun->second.second : 0;
  if (here.left.count != 0 && here.number > before) {
    out.rest = here.left;
    out.answered = here.number;
    return out;
  }
  const auto next = std::max(here.number, before);
  if (const auto* found = log_.find({source, out.pass, next}); found != nullptr && *found) {
    out.rest = **found;
    out.answered = next + 1;
  }
  return out;
}

const std::vector<uint32_t>& split_dealer::group_of(uint32_t source) const {
  static const std::vector<uint32_t> nobody;
  return source < together_.size() ? together_[source] : nobody;
}

std::optional<unread_splits> split_dealer::close(uint32_t source, uint64_t pass,
                                                 split_range unread) {
  auto& mine = places_[source];
  if (mine.pass != pass)
    mine = {.pass = pass};
  if (leaving_ || std::exchange(mine.closed, true))
    return {};
  if (unread.count != 0)
    mine.left = {unread.first, unread.count + mine.left.count};
  // The report for a group is that of the furthest source of the group.
  const auto* speaks = &mine;
  bool over = mine.over;
  for (auto other : group_of(source)) {
    const auto at = places_.find(other);
    if (at == places_.end() || at->second.pass != pass)
      continue;
    const auto& theirs = at->second;
    if (theirs.told || (!theirs.closed && !theirs.over))
      return {};
    over |= theirs.over;
    if (theirs.number > speaks->number
        || (theirs.number == speaks->number && theirs.left.count < speaks->left.count)) {
      speaks = &theirs;
      source = other;
    }
  }
  if (speaks->number == 0)
    return {}; // the task was given no splits of this source
  unread_splits out{source, pass, speaks->number, over ? split_range{} : speaks->left};
  for (auto other : group_of(source))
    if (auto at = places_.find(other); at != places_.end() && at->second.pass == pass) {
      at->second.left = {};
      at->second.told = true;
    }
  return out;
}

bool split_dealer::exhausted() const {
  const auto is_over = [this](uint32_t source) {
    const auto at = places_.find(source);
    return at != places_.end() && at->second.over;
  };
  // All sources of a group end when the first of them ends.
  return std::ranges::all_of(
    together_, [&](const auto& group) { return std::ranges::any_of(group, is_over); });
}

std::vector<unread_splits> split_dealer::leave() {
  leaving_ = true;
  std::vector<unread_splits> out;
  for (uint32_t source = 0; source < together_.size(); ++source) {
    const auto unread = unread_of(source);
    // The report for a group is that of the furthest source of the group.
    const auto further = [&](uint32_t other) {
      const auto theirs = unread_of(other);
      return std::tuple{theirs.pass, theirs.answered, source}
             > std::tuple{unread.pass, unread.answered, other};
    };
    if (std::ranges::any_of(together_[source], further))
      continue;
    out.push_back(unread);
  }
  for (const auto& unread : out) {
    log_.cut(unread);
    if (unread.rest.count == 0)
      continue;
    if (auto& at = places_[unread.source]; at.pass == unread.pass && at.number == unread.answered)
      at.left = {};
  }
  return out;
}

} // namespace headrace::detail
