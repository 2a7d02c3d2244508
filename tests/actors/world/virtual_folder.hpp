#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// A folder that workers save a dataset into, reduced to what their steps depend on: a plan, the
/// pieces that exist, and whether the whole is finished.
struct virtual_folder {
  uint64_t pieces = 0; ///< of the plan that will be made
  uint64_t plan = 0;   ///< zero: there is none
  std::set<uint64_t> there;
  uint64_t writes = 0;   ///< writes of pieces, including superfluous ones
  uint64_t finishes = 0; ///< successful ones
  std::vector<std::string> wrong;
};

} // namespace headrace::detail::test
