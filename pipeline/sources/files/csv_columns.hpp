#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// Maps the columns of a table to components.
class csv_columns {
public:
  /// @pre `node` outlives this object
  explicit csv_columns(const dataset_node& node);

  /// Applies the header of a file. Errors name the missing columns and the present ones.
  status read_header(const std::vector<std::string>& names);

  /// The component of the table's column `i`, or -1 if the column is not read.
  int component(size_t i) const noexcept { return i < targets_.size() ? targets_[i] : -1; }
  /// True if a row may have this many fields.
  bool right(size_t fields) const noexcept {
    return exact_ ? fields == expected_ : fields >= expected_;
  }
  /// The expected number of fields: `4`, or `at least 4`.
  std::string expected() const;
  /// The name of the table's column `i` in errors.
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
