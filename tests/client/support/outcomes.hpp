#pragma once

#include "headrace/headrace.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headrace::detail::test {

/// The error that the call throws; ok if it throws none.
template <class F>
status thrown_by(F&& call) {
  try {
    std::forward<F>(call)();
  } catch (const error& e) {
    return e.why();
  }
  return {};
}

/// All elements in the order in which they come, each as `text` of its first component. An error
/// row is given as `!` and its status.
template <class Text>
std::vector<std::string> outcomes(const dataset& from, Text&& text) {
  std::vector<std::string> out;
  auto it = from.iterate();
  for (;;) {
    auto x = it.next();
    if (!x)
      out.push_back("!" + to_string(x.status()));
    else if (x->has_value())
      out.push_back(text((**x)[0]));
    else
      return out;
  }
}

} // namespace headrace::detail::test
