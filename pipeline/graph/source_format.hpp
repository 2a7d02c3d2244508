#pragma once

#include "headrace/pipeline/types/column.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headrace {

/// One component of the rows that a source reads: a column of a table, or a key of an object.
struct field_format {
  std::string name; ///< may be empty where columns are identified by their index
  tensor_spec spec;
  /// The value that replaces a missing one: one row of `spec`. Unset: the field is required.
  std::optional<column> missing;
};

/// Formats of fields. Without the argument `missing` the field is required; with it the field is a
/// scalar, and `missing` replaces missing values.
field_format field(std::string name, dtype type);
field_format field(std::string name, tensor_spec spec);
template <plain_value T>
field_format field(std::string name, T missing) {
  return {std::move(name), {dtype_of<T>, {}}, column::of_scalars(std::span<const T>{&missing, 1})};
}
field_format field(std::string name, std::string_view missing);

/// The layout of files of fixed-length records, in bytes.
struct record_layout {
  int64_t record_bytes = 0; ///< the length of each record, >= 1
  int64_t header_bytes = 0; ///< the bytes before the first record
  int64_t footer_bytes = 0; ///< the bytes after the last record
  friend bool operator==(const record_layout&, const record_layout&) = default;
};

/// The format of tables in text files.
struct csv_format {
  /// The first line of each file contains the names of the columns.
  bool header = false;
  char delimiter = ','; ///< the character between fields
  bool quotes = true;   ///< `"` may enclose a field; `""` inside stands for one `"`
  /// A field with this text counts as missing, as an empty field does.
  std::string na_value;
  /// The indices, from 0, of the columns to read, in ascending order; empty: see `make_csv`.
  std::vector<int64_t> select = {};
  friend bool operator==(const csv_format&, const csv_format&) = default;
};

} // namespace headrace
