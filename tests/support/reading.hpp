#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {

/// Something that must not happen, and where it did.
struct violation {
  std::string rule;
  std::string what;
};

/// What one trainer was given of a repetition of a job, and how that ended: what is judged, of
/// simulated trainers and of processes alike.
struct reading {
  std::string name;
  std::span<const int64_t> handed_out;
  std::optional<status> ended; ///< what it read last
  std::string remark;          ///< that came with the end
  bool over = true;            ///< it ended, left, or died
  /// It died, stands still for good, or left and could not say so: of what it handed out it may
  /// not have reported all, and no trainer is left to be told.
  bool gone = false;

  /// Of a reader that is gone, or read that it is none any more, others are given what it had not
  /// reported.
  bool may_be_repeated() const { return gone || (ended && ended->code() == status_code::aborted); }
  bool ended_well() const { return ended && ended->ok(); }
};

/// Looks at trainers that read one repetition together: an element comes at most `copies` times,
/// but for what may be repeated.
inline std::optional<violation> find_repetition(std::span<const reading> group, size_t copies = 1) {
  struct places {
    const reading* first = nullptr;
    size_t times = 0;
  };
  std::map<int64_t, places> of;
  for (const auto& r : group)
    for (auto x : r.handed_out) {
      auto& at = of[x];
      if (at.first == nullptr)
        at.first = &r;
      if (++at.times <= copies)
        continue;
      if (at.first != &r && (r.may_be_repeated() || at.first->may_be_repeated()))
        continue;
      return violation{"repeat", fmt::format("element {} was handed out to {} and then to {}", x,
                                             at.first->name, r.name)};
    }
  return {};
}

/// Looks at trainers that shared out a repetition among them, of `total` different elements:
/// whoever ended well and lacks something read so.
inline std::optional<violation> find_silent_loss(std::span<const reading> group, size_t total) {
  std::set<int64_t> given;
  const reading* content = nullptr; // ended well, and knows of no loss
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

} // namespace headrace::test
