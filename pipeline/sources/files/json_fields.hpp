#pragma once

#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/iterator/row_table.hpp"
#include "headrace/runtime/base/status.hpp"

#include <memory>
#include <string_view>

namespace headrace::detail {

/// Reads the fields of JSON objects into columns.
class json_fields {
public:
  /// @pre `fields` outlive this object
  explicit json_fields(const std::vector<field_format>& fields);
  ~json_fields();

  /// Appends the fields of the JSON object in `text`. Errors name the field; the caller must then
  /// fail the row. `padded`: how many bytes after the text may be read.
  status read(std::string_view text, size_t padded, row_table& to);

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace::detail
