#pragma once

#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/functions/representation/program.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "headrace/pipeline/functions/trace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

/// Helpers of the tests of functions: they make blocks from values, and texts of rows to compare.
namespace headrace::detail::test {

inline block rows_of(std::vector<column> columns) {
  block out;
  out.rows = columns.at(0).rows();
  out.columns = std::move(columns);
  return out;
}

inline expr numbers(std::vector<int64_t> xs) { return constant(xs); }

/// A column with one scalar in each row.
template <class T>
column scalars(const std::vector<T>& xs) {
  return column::of_scalars(std::span<const T>{xs});
}
inline column texts(const std::vector<std::string>& xs) {
  const std::vector<std::string_view> views{xs.begin(), xs.end()};
  return column::of_strings(views);
}
/// A column with rows of shape `dims`.
template <class T>
column tensors(const std::vector<T>& xs, shape dims) {
  const auto rows = xs.size() / static_cast<size_t>(*dims.elements());
  return column::dense(dtype_of<T>, std::move(dims), rows, buffer::copy_of(std::span<const T>{xs}));
}
/// A column with one vector in each row; the vectors may have different lengths.
template <class T>
column vectors(const std::vector<std::vector<T>>& rows) {
  buffer_builder values, starts, dims;
  int64_t n = 0;
  starts.push_back(n);
  for (const auto& row : rows) {
    values.append(row.data(), row.size() * sizeof(T));
    n += static_cast<int64_t>(row.size());
    starts.push_back(n);
    dims.push_back(static_cast<int64_t>(row.size()));
  }
  return column::variable(dtype_of<T>, 1, rows.size(), values.finish(), starts.finish(),
                          dims.finish());
}

template <class T>
std::vector<T> values_of(const column& c) {
  const auto xs = c.values<T>();
  return {xs.begin(), xs.end()};
}
inline std::vector<std::string> texts_of(const column& c) {
  std::vector<std::string> out;
  for (size_t i = 0; i < static_cast<size_t>(c.total_values()); ++i) out.emplace_back(c.string(i));
  return out;
}

/// A text of one row of one column, with dtype and shape, for comparisons. All NaNs have one text.
inline std::string print_row(const column& c, size_t r) {
  std::string out = std::string{to_string(c.type())} + to_string(c.shape_of(r)) + ":";
  for (auto i = c.first_value(r); i < c.first_value(r + 1); ++i) {
    const auto at = static_cast<size_t>(i);
    if (c.is_string()) {
      out += " '" + std::string{c.string(at)} + "'";
      continue;
    }
    out += ' ';
    visit_plain(c.type(), [&]<class T>(T) {
      const T x = c.values<T>()[at];
      if constexpr (is_floating(dtype_of<T>))
        if (std::isnan(static_cast<double>(x))) {
          out += "nan";
          return;
        }
      char hex[3];
      for (size_t b = 0; b < sizeof(T); ++b) {
        std::snprintf(hex, sizeof hex, "%02x", reinterpret_cast<const unsigned char*>(&x)[b]);
        out += hex;
      }
    });
  }
  return out;
}

/// A text of each row of a block: the row's error, or its values.
inline std::vector<std::string> print_rows(const block& b) {
  std::vector<std::string> out;
  for (size_t r = 0; r < b.rows; ++r) {
    if (const auto* why = b.error_at(r)) {
      out.push_back(to_string(*why));
      continue;
    }
    std::string row;
    for (const auto& c : b.columns) row += print_row(c, r) + "; ";
    out.push_back(std::move(row));
  }
  return out;
}

inline block run(const function& f, const block& in) {
  kernel_counter counter;
  return compile(f).run(in, nullptr, counter);
}

/// The spec of the elements of a column, as precise as possible.
inline tensor_spec spec_of_column(const column& c) {
  if (c.is_dense())
    return {c.type(), c.row_shape()};
  return {c.type(), shape{std::vector<int64_t>(c.rank(), shape::unknown)}};
}

/// Traces `f` for rows of these columns and runs it.
template <class F>
block apply(std::vector<column> columns, F&& f) {
  std::vector<element_spec> parts;
  for (const auto& c : columns) parts.emplace_back(spec_of_column(c));
  const auto spec = parts.size() == 1 ? parts[0] : element_spec::tuple(parts);
  return run(trace(spec, std::forward<F>(f)), rows_of(std::move(columns)));
}

/// The message of the error that `f` throws, or "" if it throws none.
template <class F>
std::string thrown_by(F&& f) {
  try {
    f();
  } catch (const error& e) {
    return e.why().message();
  }
  return "";
}

} // namespace headrace::detail::test
