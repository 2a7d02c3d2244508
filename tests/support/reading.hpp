#pragma once

#include "headrace/runtime/base/status.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headrace::detail::test {

/// A violation of a rule: the rule, and the details.
struct violation {
  std::string rule;
  std::string what;
};

/// The elements that one trainer was given of a repetition of a job, and how that ended. The judges
/// of simulated trainers and of processes both use it.
struct reading {
  std::string name;
  std::span<const int64_t> handed_out;
  /// The times of the elements in order, by one clock for all readings. Elements without a time
  /// came last.
  std::span<const int64_t> handed_out_at;
  std::optional<status> ended; ///< the last status that it read
  std::string remark;          ///< the message that came with the end
  bool over = true;            ///< it ended, left, or died
  /// The trainer died, was stopped for good, or left and could not report it: it may not have
  /// reported all elements that it handed out, and cannot be warned any more.
  bool gone = false;

  /// The trainer is gone, or read that it is no reader any more or may be none: under at_least_once
  /// others are given the elements that it had not reported.
  bool may_be_repeated() const {
    return gone
           || (ended
               && (ended->code() == status_code::aborted
                   || ended->message().find("gone to other readers") != std::string::npos));
  }
  bool ended_well() const { return ended && ended->ok(); }
};

/// Checks trainers that read one repetition together: an element is handed out at most `copies`
/// times. If `unreported_again`, it may be handed out once more, to another trainer, for each time
/// that it went to a trainer which perhaps did not report it.
inline std::optional<violation> find_repetition(std::span<const reading> group, size_t copies = 1,
                                                bool unreported_again = false) {
  struct one {
    int64_t at = 0;
    const reading* to = nullptr;
  };
  std::map<int64_t, std::vector<one>> of;
  for (const auto& r : group)
    for (size_t i = 0; i < r.handed_out.size(); ++i)
      of[r.handed_out[i]].push_back(
        {i < r.handed_out_at.size() ? r.handed_out_at[i] : std::numeric_limits<int64_t>::max(),
         &r});
  for (auto& [element, times] : of) {
    std::ranges::stable_sort(times, {}, &one::at);
    // Each copy may be handed out, and once more for each time that was perhaps not reported. One
    // trainer is never handed an element twice, however it ended.
    size_t allowed = copies;
    std::map<const reading*, size_t> to;
    for (size_t i = 0; i < times.size(); ++i) {
      const auto& now = times[i];
      if (i + 1 > allowed || ++to[now.to] > copies)
        return violation{"repeat",
                         fmt::format("element {} was handed out to {} and then to {}", element,
                                     times[i == 0 ? 0 : i - 1].to->name, now.to->name)};
      allowed += unreported_again && now.to->may_be_repeated()
                 && std::any_of(times.begin() + static_cast<std::ptrdiff_t>(i), times.end(),
                                [&](const one& x) { return x.to != now.to; });
    }
  }
  return {};
}

/// Checks trainers that shared a repetition of `total` different elements: each that ended without
/// an error and lacks elements read a message about the loss.
inline std::optional<violation> find_silent_loss(std::span<const reading> group, size_t total) {
  std::set<int64_t> given;
  const reading* content = nullptr; // ended without an error and without a message about a loss
  bool all_over = true;
  for (const auto& r : group) {
    given.insert(r.handed_out.begin(), r.handed_out.end());
    all_over &= r.over;
    if (r.ended_well() && r.remark.empty())
      content = &r;
  }
  if (content == nullptr || !all_over || given.size() >= total)
    return {};
  return violation{"silent",
                   fmt::format("{} ended well without a word, and {} elements are missing",
                               content->name, total - given.size())};
}

} // namespace headrace::detail::test
