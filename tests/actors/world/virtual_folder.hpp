#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace headrace::test {

/// A folder that workers save a dataset into, as far as their steps can tell: a plan, pieces that
/// are there or not, and the whole.
struct virtual_folder {
  uint64_t pieces = 0; ///< of the plan that will be made
  uint64_t plan = 0;   ///< zero: there is none
  std::set<uint64_t> there;
  uint64_t writes = 0;   ///< of pieces, also in vain
  uint64_t finishes = 0; ///< with success
  std::vector<std::string> wrong;
};

} // namespace headrace::test
