#pragma once

#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/iterator/row_table.hpp"
#include "headrace/runtime/base/result.hpp"

#include <memory>
#include <stop_token>
#include <string>

namespace headrace::detail {

/// A running query on a SQLite file.
class sqlite_query {
public:
  /// Errors name the file and the fault of the query. @pre `columns` outlive this object
  static result<std::unique_ptr<sqlite_query>> open(const std::string& path,
                                                    const std::string& query,
                                                    const std::vector<field_format>& columns,
                                                    std::stop_token stop);
  virtual ~sqlite_query() = default;

  /// Moves to the next row; false: there is none.
  virtual result<bool> step() = 0;
  /// Appends the present row. Errors name the column; the caller must then fail the row.
  virtual status read(row_table& to) const = 0;
};

} // namespace headrace::detail
