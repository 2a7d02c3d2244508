#pragma once

#include "tests/pipeline/support/rows.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// The message of the error that a maker returned.
inline std::string why(const result<dataset_ptr>& made) {
  return made ? "it was made" : made.status().message();
}

/// Returns all rows, and checks that they are the same in blocks of 1, 7 and 1000 rows.
inline std::vector<std::string> read(const dataset_ptr& graph) {
  const auto out = read_all(graph, always(1));
  EXPECT_EQ(read_all(graph, always(7)), out);
  EXPECT_EQ(read_all(graph, always(1000)), out);
  return out;
}

} // namespace headrace::detail::test
