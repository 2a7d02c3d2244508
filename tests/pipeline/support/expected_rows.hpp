#pragma once

#include "tests/pipeline/support/rows.hpp"
#include "tests/support/paths.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <map>

/// Rows that were computed with TensorFlow. A file of tests/data/expected consists of cases. A case
/// is a line with `== ` and the name of the case, and below it a line for each row, as `row_text`
/// writes it; for an error row the line is `!`.
namespace headrace::detail::test {

class expected_rows {
public:
  explicit expected_rows(const std::string& file) {
    std::ifstream in{expected_path("expected/" + file)};
    std::vector<std::string>* to = nullptr;
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("== "))
        to = &cases_[line.substr(3)];
      else if (to)
        to->push_back(line);
  }
  const std::vector<std::string>& at(const std::string& name) const { return cases_.at(name); }

  /// Reads the graph in blocks of several sizes. The texts of errors are not compared.
  void compare(const std::string& name, const dataset_ptr& graph) const {
    for (size_t n : {1, 5, 1000}) {
      auto rows = read_all(graph, always(n));
      for (auto& row : rows)
        if (row[0] == '!')
          row = "!";
      EXPECT_EQ(rows, at(name)) << name;
    }
  }

private:
  std::map<std::string, std::vector<std::string>> cases_;
};

} // namespace headrace::detail::test
