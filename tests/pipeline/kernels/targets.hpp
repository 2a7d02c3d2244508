#pragma once

#include "headrace/pipeline/types/float16.hpp"

#include <hwy/targets.h>

#include <type_traits>
#include <vector>

namespace headrace::detail::test {

/// As long as the object lives, kernels run in the given variant.
class chosen_target {
public:
  explicit chosen_target(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~chosen_target() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  chosen_target(const chosen_target&) = delete;
  chosen_target& operator=(const chosen_target&) = delete;
};

/// The variants that this CPU can run, the baseline first.
inline std::vector<int64_t> targets_here() {
  std::vector<int64_t> out{HWY_SCALAR};
  for (const int64_t target : {int64_t{HWY_AVX2}, int64_t{HWY_AVX3}})
    if ((hwy::SupportedTargets() & target) != 0)
      out.push_back(target);
  return out;
}

template <class T>
inline constexpr bool is_small = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

} // namespace headrace::detail::test
