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

/// The elements that one trainer was handed in a repetition of a job, and how its reading ended.
/// The checks of simulated trainers and those of trainer processes use this class.
struct reading {
  std::string name;
  std::span<const int64_t> handed_out;
  /// The times at which the elements were handed out, by one clock for all readings. Elements for
  /// which this list is too short count as handed out last.
  std::span<const int64_t> handed_out_at;
  std::optional<status> ended; ///< the last status that the trainer read
  std::string remark;          ///< the trainer's remark, such as a warning about a loss
  bool over = true;            ///< the trainer's reading ended, or it left or died
  /// The trainer died, was stopped for good, or left and its goodbye did not arrive: elements that
  /// it was handed may be unreported, and it cannot be warned any more.
  bool gone = false;

  /// True if the trainer is gone, or if its last status states that the job has removed it, or that
  /// its rows may have gone to other readers. Then, under at_least_once, other trainers are given
  /// the elements that it had not reported.
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
/// that it went to a trainer which perhaps did not report it as handed out.
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
    // Each copy may be handed out once, and once more for each time that a trainer may not have
    // reported it. No trainer is handed an element more than `copies` times, whatever its end.
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

/// Checks trainers that shared a repetition of `total` different elements: if some elements were
/// handed to none of them, each trainer that ended without an error was given a remark about the
/// loss.
inline std::optional<violation> find_silent_loss(std::span<const reading> group, size_t total) {
  std::set<int64_t> given;
  const reading* content = nullptr; // the trainer ended without an error and without a remark
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
