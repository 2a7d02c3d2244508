#pragma once

#include "headrace/pipeline/functions/operations/alignment.hpp"

/// Helpers for functions of strings whose results have the shapes of other columns.
namespace headrace::detail {

/// A column with the shapes of `like`.
inline column with_shapes_of(const column& like, dtype type, buffer values) {
  if (like.is_dense())
    return column::dense(type, like.row_shape(), like.rows(), std::move(values));
  return column::variable(type, like.rank(), like.rows(), std::move(values),
                          like.row_start_buffer(), like.row_dim_buffer());
}
/// Strings with the shapes of `like`.
inline column strings_with_shapes_of(const column& like, buffer borders, buffer bytes,
                                     int64_t byte_base = 0) {
  if (like.is_dense())
    return column::strings(like.row_shape(), like.rows(), std::move(borders), std::move(bytes),
                           byte_base);
  return column::variable_strings(like.rank(), like.rows(), std::move(borders), std::move(bytes),
                                  byte_base, like.row_start_buffer(), like.row_dim_buffer());
}
/// Strings with the shapes of `to`, to which the operands of a call broadcast.
inline column strings_with_shapes_of(const alignment& to, size_t rows, buffer borders,
                                     buffer bytes) {
  if (to.dense)
    return column::strings(to.dims, rows, std::move(borders), std::move(bytes));
  return column::variable_strings(to.rank, rows, std::move(borders), std::move(bytes), 0,
                                  to.row_starts, to.row_dims);
}

/// A column in which each string is replaced. `change(string, bytes)` appends the new string to
/// `buffer_builder& bytes`.
template <class Change>
column change_strings(const column& in, Change&& change) {
  buffer_builder borders, bytes;
  borders.push_back(int64_t{0});
  const auto n = static_cast<size_t>(in.total_values());
  for (size_t i = 0; i < n; ++i) {
    change(in.string(i), bytes);
    borders.push_back(static_cast<int64_t>(bytes.size()));
  }
  return strings_with_shapes_of(in, borders.finish(), bytes.finish());
}

/// A column of dtype `dtype_of<T>` with the result of `look(string)` in place of each string.
template <class T, class Look>
column measure_strings(const column& in, Look&& look) {
  const auto n = static_cast<size_t>(in.total_values());
  mutable_buffer out{n * sizeof(T)};
  auto* to = out.as<T>().data();
  for (size_t i = 0; i < n; ++i) to[i] = look(in.string(i));
  return with_shapes_of(in, dtype_of<T>, std::move(out).freeze());
}

} // namespace headrace::detail
