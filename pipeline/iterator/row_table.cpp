#include "headrace/pipeline/iterator/row_table.hpp"

namespace headrace::detail {

namespace {
constexpr size_t border_bytes = sizeof(int64_t);
}

field_column::field_column(const tensor_spec& spec) : spec_(spec), dense_(spec.dims.is_static()) {
  if (spec.type == dtype::string)
    borders_.push_back(int64_t{0});
  if (!dense_)
    row_starts_.push_back(int64_t{0});
}

void field_column::append_row(const column& constant) {
  const auto n = static_cast<size_t>(constant.total_values());
  if (constant.is_string()) {
    for (size_t i = 0; i < n; ++i) append(constant.string(i));
  } else {
    values_.append(constant.value_buffer().data(), n * size_of(spec_.type));
    count_ += n;
  }
  if (!dense_)
    dims_ = constant.shape_of(0);
}

void field_column::end_shape() {
  row_starts_.push_back(static_cast<int64_t>(count_));
  for (auto dim : dims_.dims()) row_dims_.push_back(dim);
}

void field_column::drop_row() {
  if (spec_.type == dtype::string) {
    borders_.truncate((row_ends_at_ + 1) * border_bytes);
    int64_t end = 0;
    std::memcpy(&end, borders_.data() + row_ends_at_ * border_bytes, border_bytes);
    values_.truncate(static_cast<size_t>(end));
  } else {
    values_.truncate(row_ends_at_ * size_of(spec_.type));
  }
  count_ = row_ends_at_;
}

void field_column::append_nothing() {
  if (!dense_) {
    dims_ = shape{std::vector<int64_t>(spec_.dims.rank(), 0)};
    return;
  }
  const auto n = static_cast<size_t>(*spec_.dims.elements());
  if (spec_.type == dtype::string) {
    for (size_t i = 0; i < n; ++i) append(std::string_view{});
  } else if (n != 0) {
    std::memset(values_.extend(n * size_of(spec_.type)), 0, n * size_of(spec_.type));
    count_ += n;
  }
}

column field_column::finish(size_t rows) {
  if (spec_.type == dtype::string)
    return dense_ ? column::strings(spec_.dims, rows, borders_.finish(), values_.finish())
                  : column::variable_strings(spec_.dims.rank(), rows, borders_.finish(),
                                             values_.finish(), 0, row_starts_.finish(),
                                             row_dims_.finish());
  return dense_ ? column::dense(spec_.type, spec_.dims, rows, values_.finish())
                : column::variable(spec_.type, spec_.dims.rank(), rows, values_.finish(),
                                   row_starts_.finish(), row_dims_.finish());
}

row_table::row_table(const std::vector<tensor_spec>& specs, const limits& wanted)
  : wanted_(wanted) {
  columns_.reserve(specs.size());
  for (const auto& spec : specs) columns_.emplace_back(spec);
}

void row_table::end_row() {
  ++rows_;
  bytes_ = 0;
  for (auto& c : columns_) {
    c.end_row();
    bytes_ += c.bytes();
  }
}

void row_table::drop_row() {
  for (auto& c : columns_) c.drop_row();
}

void row_table::fail_row(status why) {
  drop_row();
  for (auto& c : columns_) c.append_nothing();
  errors_.push_back({static_cast<uint32_t>(rows_), std::move(why)});
  end_row();
}

block row_table::finish() {
  block out;
  out.rows = rows_;
  for (auto& c : columns_) out.columns.push_back(c.finish(rows_));
  out.errors = std::move(errors_);
  return out;
}

} // namespace headrace::detail
