#include "headrace/pipeline/functions/representation/value.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"

namespace headrace::detail {

std::string_view op_call::name() const noexcept { return to_string(node.op); }

void op_call::fail_all(const status& why) const {
  const auto named = why.with_context(name());
  for (size_t r = 0; r < rows; ++r)
    if (!skips(r))
      errors.push_back({static_cast<uint32_t>(r), named});
}

shape shape_of_nothing(const tensor_spec& spec, size_t rank) {
  std::vector<int64_t> dims;
  if (spec.dims.has_rank())
    for (auto dim : spec.dims.dims()) dims.push_back(std::max<int64_t>(dim, 0));
  else
    dims.resize(rank, 0);
  return shape{std::move(dims)};
}

column column_of_nothing(const tensor_spec& spec, size_t rows) {
  if (spec.is_dataset()) {
    auto element = spec;
    --element.nesting;
    return column::nested(spec.type, std::vector<column>(rows, column_of_nothing(element, 0)));
  }
  auto dims = shape_of_nothing(spec, 1);
  const auto values = static_cast<size_t>(*dims.elements()) * rows;
  const bool text = spec.type == dtype::string;
  mutable_buffer zeros{text ? (values + 1) * sizeof(int64_t) : values * size_of(spec.type)};
  if (zeros.size() != 0)
    std::memset(zeros.data(), 0, zeros.size());
  if (text)
    return column::strings(std::move(dims), rows, std::move(zeros).freeze(), {});
  return column::dense(spec.type, std::move(dims), rows, std::move(zeros).freeze());
}

column_builder::column_builder(dtype type, size_t rows_expected)
  : type_(type), size_(size_of(type)) {
  starts_.reserve((rows_expected + 1) * sizeof(int64_t));
  starts_.push_back(int64_t{0});
  if (type == dtype::string) {
    borders_.reserve((rows_expected + 1) * sizeof(int64_t));
    borders_.push_back(int64_t{0});
  }
}

void column_builder::end_row(const shape& dims) {
  if (only_nothing_ && rows_ != 0 && first_.rank() != dims.rank())
    set_rank_of_nothing(dims.rank());
  only_nothing_ = false;
  add_row(dims);
}

void column_builder::add_row(const shape& dims) {
  if (rows_ == 0)
    first_ = dims;
  else
    same_ = same_ && first_ == dims;
  ++rows_;
  for (auto dim : dims.dims()) dims_.push_back(dim);
  total_ += *dims.elements();
  starts_.push_back(total_);
}

void column_builder::end_row_of_nothing(const shape& nothing) {
  if (rows_ != 0 && !same_ && nothing.rank() != first_.rank())
    return end_row_of_nothing(shape{std::vector<int64_t>(first_.rank(), 0)});
  const auto& dims = rows_ != 0 && same_ ? first_ : nothing;
  const auto n = static_cast<size_t>(*dims.elements());
  if (type_ == dtype::string)
    for (size_t i = 0; i < n; ++i) end_string();
  else if (n != 0)
    std::memset(extend(n), 0, n * size_);
  add_row(dims);
}

void column_builder::set_rank_of_nothing(size_t rank) {
  const auto before = static_cast<size_t>(total_);
  first_ = shape{std::vector<int64_t>(rank, 0)};
  total_ = *first_.elements() * static_cast<int64_t>(rows_);
  same_ = true;
  starts_.truncate(sizeof(int64_t));
  dims_.truncate(0);
  for (size_t r = 1; r <= rows_; ++r) {
    starts_.push_back(*first_.elements() * static_cast<int64_t>(r));
    for (size_t i = 0; i < rank; ++i) dims_.push_back(int64_t{0});
  }
  // The values that the current row has so far are moved behind the zeros of the earlier rows.
  auto& added = type_ == dtype::string ? borders_ : values_;
  const auto skipped = type_ == dtype::string ? (before + 1) * sizeof(int64_t) : before * size_;
  const std::vector<std::byte> current{added.data() + skipped, added.data() + added.size()};
  const auto zeros =
    static_cast<size_t>(total_) * (type_ == dtype::string ? sizeof(int64_t) : size_);
  added.truncate(type_ == dtype::string ? sizeof(int64_t) : 0);
  if (zeros != 0)
    std::memset(added.extend(zeros), 0, zeros);
  added.append(current.data(), current.size());
}

column column_builder::finish() && {
  if (same_) {
    if (type_ == dtype::string)
      return column::strings(first_, rows_, borders_.finish(), values_.finish());
    return column::dense(type_, first_, rows_, values_.finish());
  }
  const auto rank = first_.rank();
  if (type_ == dtype::string)
    return column::variable_strings(rank, rows_, borders_.finish(), values_.finish(), 0,
                                    starts_.finish(), dims_.finish());
  return column::variable(type_, rank, rows_, values_.finish(), starts_.finish(), dims_.finish());
}

column repeat_row(const column& one, size_t rows) {
  if (rows == 1)
    return one;
  if (one.is_nested())
    return column::nested(one.type(), std::vector<column>(rows, one.nested_row(0)));
  const auto dims = one.shape_of(0);
  const auto n = static_cast<size_t>(*dims.elements());
  if (one.is_string()) {
    column_builder out{dtype::string, rows * n};
    for (size_t r = 0; r < rows; ++r) {
      for (size_t i = 0; i < n; ++i) out.add_string(one.string(i));
      out.end_row(dims);
    }
    return std::move(out).finish();
  }
  const auto bytes = n * size_of(one.type());
  mutable_buffer all{bytes * rows};
  for (size_t r = 0; bytes != 0 && r < rows; ++r)
    std::memcpy(all.data() + r * bytes, one.value_buffer().data(), bytes);
  return column::dense(one.type(), dims, rows, std::move(all).freeze());
}

} // namespace headrace::detail
