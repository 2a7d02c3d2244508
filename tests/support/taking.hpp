#pragma once

#include "headrace/client/headrace.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// The next `n` elements, which are int64 scalars; fewer if an error or the end comes before.
inline std::vector<int64_t> take(dataset_iterator& from, size_t n) {
  std::vector<int64_t> out;
  while (out.size() < n) {
    auto next = from.next();
    if (!next || !*next)
      break;
    out.push_back((**next)[0].scalar<int64_t>());
  }
  return out;
}

/// The message of the error that this call throws.
inline std::string why(const std::function<void()>& what) {
  try {
    what();
  } catch (const error& x) {
    return x.what();
  }
  return "nothing was wrong";
}

} // namespace headrace::detail::test
