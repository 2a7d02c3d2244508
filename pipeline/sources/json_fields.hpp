#pragma once

#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/sources/row_table.hpp"
#include "headrace/runtime/base/status.hpp"

#include <memory>
#include <string_view>

namespace headrace::detail {

/// Reads the fields of JSON objects into columns.
class json_fields {
public:
  /// @pre `fields` outlive this
  explicit json_fields(const std::vector<field_format>& fields);
  ~json_fields();

  /// Appends the fields of the object that `text` spells. Errors name the field, and leave the row
  /// to be failed. `padded`: bytes after the text that may be read.
  status read(std::string_view text, size_t padded, row_table& to);

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace::detail
