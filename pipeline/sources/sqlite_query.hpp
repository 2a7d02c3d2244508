#pragma once

#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/sources/row_table.hpp"
#include "headrace/runtime/base/result.hpp"

#include <memory>
#include <stop_token>
#include <string>

namespace headrace::detail {

/// A running query on a SQLite file.
class sqlite_query {
public:
  /// Errors name the file, and what is wrong with the query. @pre `columns` outlive it
  static result<std::unique_ptr<sqlite_query>> open(const std::string& path,
                                                    const std::string& query,
                                                    const std::vector<field_format>& columns,
                                                    std::stop_token stop);
  virtual ~sqlite_query() = default;

  /// Goes to the next row; false: there is none.
  virtual result<bool> step() = 0;
  /// Appends the row where it stands. Errors name the column, and leave the row to be failed.
  virtual status read(row_table& to) const = 0;
};

} // namespace headrace::detail
