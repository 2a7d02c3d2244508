#include "headrace/pipeline/types/column.hpp"

namespace headrace {

namespace {

constexpr size_t word = sizeof(int64_t);

} // namespace

column column::dense(dtype type, shape dims, size_t rows, buffer values) {
  column out;
  out.type_ = type;
  out.row_elements_ = *dims.elements();
  out.dims_ = std::move(dims);
  out.rows_ = rows;
  out.values_ = std::move(values);
  assert(out.values_.size() >= rows * static_cast<size_t>(out.row_elements_) * size_of(type));
  return out;
}

column column::strings(shape dims, size_t rows, buffer borders, buffer bytes, int64_t byte_base) {
  column out;
  out.type_ = dtype::string;
  out.row_elements_ = *dims.elements();
  out.dims_ = std::move(dims);
  out.rows_ = rows;
  out.borders_ = std::move(borders);
  out.values_ = std::move(bytes);
  out.byte_base_ = byte_base;
  return out;
}

column column::variable(dtype type, size_t rank, size_t rows, buffer values, buffer row_starts,
                        buffer row_dims) {
  column out;
  out.type_ = type;
  out.dense_ = false;
  out.rank_ = rank;
  out.rows_ = rows;
  out.values_ = std::move(values);
  out.row_starts_ = std::move(row_starts);
  out.row_dims_ = std::move(row_dims);
  return out;
}

column column::variable_strings(size_t rank, size_t rows, buffer borders, buffer bytes,
                                int64_t byte_base, buffer row_starts, buffer row_dims) {
  auto out = variable(dtype::string, rank, rows, std::move(bytes), std::move(row_starts),
                      std::move(row_dims));
  out.borders_ = std::move(borders);
  out.byte_base_ = byte_base;
  return out;
}

column column::nested(dtype type, std::vector<column> rows) {
  column out;
  out.type_ = type;
  out.rows_ = rows.size();
  out.row_elements_ = 0;
  out.nested_ = std::make_shared<const std::vector<column>>(std::move(rows));
  return out;
}

column column::of_strings(std::span<const std::string_view> rows) {
  buffer_builder borders, bytes;
  borders.push_back(int64_t{0});
  for (auto row : rows) {
    bytes.append(row.data(), row.size());
    borders.push_back(static_cast<int64_t>(bytes.size()));
  }
  return strings({}, rows.size(), borders.finish(), bytes.finish());
}

shape column::shape_of(size_t row) const {
  if (dense_)
    return dims_;
  return shape{row_dims_.as<int64_t>().subspan(row * rank_, rank_)};
}

column column::slice(size_t first, size_t count) const {
  assert(first + count <= rows_);
  auto out = *this;
  out.rows_ = count;
  if (is_nested()) {
    out.first_nested_ += first;
    return out;
  }
  const auto begin = static_cast<size_t>(first_value(first));
  const auto values = static_cast<size_t>(first_value(first + count)) - begin;
  if (is_string()) {
    out.borders_ = borders_.slice(begin * word, (values + 1) * word);
    auto ends = out.borders_.as<int64_t>();
    const auto bytes = static_cast<size_t>(ends[values] - ends[0]);
    out.values_ = values_.slice(static_cast<size_t>(ends[0] - byte_base_), bytes);
    out.byte_base_ = ends[0];
  } else {
    out.values_ = values_.slice(begin * size_of(type_), values * size_of(type_));
  }
  if (!dense_) {
    out.row_starts_ = row_starts_.slice(first * word, (count + 1) * word);
    out.row_dims_ = row_dims_.slice(first * rank_ * word, count * rank_ * word);
  }
  return out;
}

size_t column::bytes() const noexcept {
  if (is_nested()) {
    size_t out = 0;
    for (size_t i = 0; i < rows_; ++i) out += nested_row(i).bytes();
    return out;
  }
  const auto n = static_cast<size_t>(total_values());
  size_t out = dense_ ? 0 : (rows_ + 1 + rows_ * rank_) * word;
  if (!is_string())
    return out + n * size_of(type_);
  auto ends = borders_.as<int64_t>();
  return out + (n + 1) * word + static_cast<size_t>(ends[n] - ends[0]);
}

column column::reshaped(shape dims, size_t rows) const {
  assert(dense_);
  auto out = *this;
  out.row_elements_ = *dims.elements();
  assert(out.row_elements_ * static_cast<int64_t>(rows) == total_values());
  out.dims_ = std::move(dims);
  out.rows_ = rows;
  return out;
}

} // namespace headrace
