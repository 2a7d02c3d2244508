#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// A folder that workers save a dataset into, reduced to what their steps depend on: a plan, the
/// pieces that exist, and whether the whole is finished.
struct virtual_folder {
  uint64_t pieces = 0; ///< the number of pieces in the plan that the first step makes
  uint64_t plan = 0;   ///< the id of the plan; zero: there is no plan yet
  std::set<uint64_t> there;
  uint64_t writes = 0;   ///< the number of pieces written, including superfluous ones
  uint64_t finishes = 0; ///< the number of successful steps to finish
  std::vector<std::string> wrong;
};

} // namespace headrace::detail::test
