#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// Which columns of a table go where.
class csv_columns {
public:
  /// @pre `node` outlives this
  explicit csv_columns(const dataset_node& node);

  /// Does the header say which columns to read?
  bool by_name() const noexcept { return by_name_; }
  /// Takes the header of a file into account. Errors name what is missing, and what there is.
  status read_header(const std::vector<std::string>& names);

  /// The component that column `i` of the table becomes, or -1.
  int component(size_t i) const noexcept { return i < targets_.size() ? targets_[i] : -1; }
  /// Is this a right number of fields for a row?
  bool right(size_t fields) const noexcept {
    return exact_ ? fields == expected_ : fields >= expected_;
  }
  /// `4`, or `at least 4`.
  std::string expected() const;
  /// A table of one column: an empty line is a row.
  bool single() const noexcept { return exact_ && expected_ == 1; }
  /// What errors call column `i` of the table.
  std::string name(size_t i) const;

private:
  std::span<const field_format> fields_;
  bool by_name_;
  std::vector<int> targets_;
  std::vector<std::string> header_;
  size_t expected_ = 0;
  bool exact_ = true;
};

} // namespace headrace::detail
