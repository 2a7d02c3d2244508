#pragma once

#include "headrace/pipeline/types/column.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headrace {

/// One component of the rows that a source reads: a column of a table, a key of an object.
struct field_format {
  std::string name; ///< may be empty where columns are identified by their position
  tensor_spec spec;
  /// The value that takes the place of a missing one: one row of `spec`. Unset: the field is
  /// required.
  std::optional<column> missing;
};

/// A required field, or one with a scalar for missing values.
field_format field(std::string name, dtype type);
field_format field(std::string name, tensor_spec spec);
template <plain_value T>
field_format field(std::string name, T missing) {
  return {std::move(name), {dtype_of<T>, {}}, column::of_scalars(std::span<const T>{&missing, 1})};
}
field_format field(std::string name, std::string_view missing);

/// The layout of files of fixed-length records, in bytes.
struct record_layout {
  int64_t record_bytes = 0; ///< length of each record, >= 1
  int64_t header_bytes = 0; ///< before the first one
  int64_t footer_bytes = 0; ///< after the last one
  friend bool operator==(const record_layout&, const record_layout&) = default;
};

/// The text format of tables.
struct csv_format {
  bool header = false;              ///< the first line of each file holds the columns' names
  char delimiter = ',';             ///< between fields
  bool quotes = true;               ///< `"` may enclose a field; `""` within is one `"`
  std::string na_value;             ///< a field with this text is missing, as an empty one is
  std::vector<int64_t> select = {}; ///< columns to read, ascending from 0; empty: see `make_csv`
  friend bool operator==(const csv_format&, const csv_format&) = default;
};

} // namespace headrace
