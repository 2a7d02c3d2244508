#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace headrace::detail {

/// Decides when the next commit may begin: on average one commit per `spacing`, and up to `burst`
/// commits in a row after a pause. So a few appends in a row, for instance at the beginning of an
/// iteration, do not wait, and under a steady load several appends share a commit.
class commit_pace {
public:
  commit_pace(duration spacing, uint32_t burst) : spacing_(spacing), burst_(burst) {}

  time_point next() const noexcept { return paid_ - (burst_ - 1) * spacing_; }
  void began(time_point now) noexcept { paid_ = std::max(paid_, now) + spacing_; }

private:
  duration spacing_;
  int64_t burst_;
  /// The time until which the commits so far would have lasted if each had taken `spacing_`.
  time_point paid_{};
};

} // namespace headrace::detail
