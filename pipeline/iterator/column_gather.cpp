#include "headrace/pipeline/iterator/column_gather.hpp"

namespace headrace::detail {

namespace {

constexpr size_t word = sizeof(int64_t);

size_t string_bytes(const column& c, size_t first, size_t last) {
  auto ends = c.border_buffer().as<int64_t>();
  return static_cast<size_t>(ends[last] - ends[first]);
}

template <class StringCopy>
void append_strings(StringCopy& to, const column& c, size_t first, size_t last) {
  auto ends = c.border_buffer().as<int64_t>();
  const auto size = string_bytes(c, first, last);
  if (size != 0)
    std::memcpy(to.bytes.data() + to.at, c.value_buffer().data() + (ends[first] - c.byte_base()),
                size);
  const auto shift = to.at - ends[first];
  for (auto i = first; i < last; ++i) *to.border++ = ends[i] + shift;
  to.at += static_cast<int64_t>(size);
}

} // namespace

struct column_gather::string_copy {
  mutable_buffer borders, bytes;
  int64_t* border;
  int64_t at = 0;
};

std::optional<column> column_gather::in_place() const {
  if (runs_.size() == 1)
    return of(runs_[0]).slice(runs_[0].first, runs_[0].count);
  const auto& first = of(runs_[0]);
  if (!first.is_dense() || first.is_string() || first.is_nested())
    return std::nullopt;
  const auto row_bytes = static_cast<size_t>(first.row_elements()) * size_of(first.type());
  const auto* begin = first.value_buffer().data() + runs_[0].first * row_bytes;
  const auto* at = begin;
  for (const auto& run : runs_) {
    const auto& c = of(run);
    const auto& bytes = c.value_buffer();
    if (!c.is_dense() || c.row_shape() != first.row_shape()
        || bytes.owner() != first.value_buffer().owner() || !bytes.owner()
        || bytes.data() + run.first * row_bytes != at)
      return std::nullopt;
    at += run.count * row_bytes;
  }
  return column::dense(first.type(), first.row_shape(), rows_,
                       {first.value_buffer().owner(), begin, static_cast<size_t>(at - begin)});
}

std::optional<column> column_gather::copy() const {
  const auto type = of(runs_[0]).type();
  if (of(runs_[0]).is_nested())
    return nested(type);
  if (auto row = common_shape())
    return type == dtype::string ? strings(*row) : dense(type, *row);
  if (auto row = common_good_shape())
    return type == dtype::string ? mended_strings(*row) : mended_dense(type, *row);
  return variable(type);
}

std::optional<shape> column_gather::common_shape() const {
  const shape* out = nullptr;
  for (const auto& run : runs_) {
    const auto& c = of(run);
    if (!c.is_dense() || (out && c.row_shape() != *out))
      return std::nullopt;
    out = &c.row_shape();
  }
  return *out;
}

std::optional<shape> column_gather::common_good_shape() const {
  std::optional<shape> out;
  for (const auto& run : runs_)
    for (size_t i = 0; i < run.count; ++i) {
      if (failed(run, i))
        continue;
      auto row = of(run).shape_of(run.first + i);
      if (out && *out != row)
        return std::nullopt;
      out = std::move(row);
    }
  return out ? out : of(runs_[0]).shape_of(runs_[0].first); // all failed: the first row's shape
}

template <size_t Bytes>
void column_gather::copy_rows(std::byte* to) const {
  struct value {
    std::byte bytes[Bytes];
  };
  auto* out = reinterpret_cast<value*>(to);
  for (const auto& run : runs_) {
    const auto* from = reinterpret_cast<const value*>(of(run).value_buffer().data()) + run.first;
    if (run.count == 1)
      *out = *from;
    else
      std::memcpy(static_cast<void*>(out), from, run.count * Bytes);
    out += run.count;
  }
}

column column_gather::dense(dtype type, const shape& row) const {
  const auto row_bytes = static_cast<size_t>(*row.elements()) * size_of(type);
  mutable_buffer out{rows_ * row_bytes};
  switch (row_bytes) {
  case 0: break;
  case 1: copy_rows<1>(out.data()); break;
  case 2: copy_rows<2>(out.data()); break;
  case 4: copy_rows<4>(out.data()); break;
  case 8: copy_rows<8>(out.data()); break;
  case 16: copy_rows<16>(out.data()); break;
  default: {
    auto* to = out.data();
    for (const auto& run : runs_) {
      std::memcpy(to, of(run).value_buffer().data() + run.first * row_bytes, run.count * row_bytes);
      to += run.count * row_bytes;
    }
  }
  }
  return column::dense(type, row, rows_, std::move(out).freeze());
}

// The rows as a dense column, with zeros in place of error rows.
column column_gather::mended_dense(dtype type, const shape& row) const {
  const auto row_bytes = static_cast<size_t>(*row.elements()) * size_of(type);
  mutable_buffer out{rows_ * row_bytes};
  auto* to = out.data();
  for (const auto& run : runs_) {
    const auto& c = of(run);
    for (size_t i = 0; i < run.count; ++i, to += row_bytes) {
      const auto* from =
        c.value_buffer().data() + static_cast<size_t>(c.first_value(run.first + i)) * size_of(type);
      if (row_bytes == 0)
        continue;
      if (failed(run, i))
        std::memset(to, 0, row_bytes);
      else
        std::memcpy(to, from, row_bytes);
    }
  }
  return column::dense(type, row, rows_, std::move(out).freeze());
}

size_t column_gather::all_string_bytes() const {
  size_t size = 0;
  for (const auto& run : runs_) {
    const auto& c = of(run);
    size += string_bytes(c, static_cast<size_t>(c.first_value(run.first)),
                         static_cast<size_t>(c.first_value(run.first + run.count)));
  }
  return size;
}

column_gather::string_copy column_gather::start_strings(size_t count) const {
  string_copy out{mutable_buffer{(count + 1) * word}, mutable_buffer{all_string_bytes()}, nullptr};
  out.border = out.borders.as<int64_t>().data();
  return out;
}

column column_gather::strings(const shape& row) const {
  auto to = start_strings(rows_ * static_cast<size_t>(*row.elements()));
  for (const auto& run : runs_) {
    const auto& c = of(run);
    append_strings(to, c, static_cast<size_t>(c.first_value(run.first)),
                   static_cast<size_t>(c.first_value(run.first + run.count)));
  }
  *to.border = to.at;
  return column::strings(row, rows_, std::move(to.borders).freeze(), std::move(to.bytes).freeze());
}

// The rows as a dense column, with empty strings in place of error rows.
column column_gather::mended_strings(const shape& row) const {
  const auto per_row = static_cast<size_t>(*row.elements());
  auto to = start_strings(rows_ * per_row);
  for (const auto& run : runs_)
    for (size_t i = 0; i < run.count; ++i) {
      const auto& c = of(run);
      const auto first = static_cast<size_t>(c.first_value(run.first + i));
      if (failed(run, i))
        for (size_t s = 0; s < per_row; ++s) *to.border++ = to.at;
      else
        append_strings(to, c, first, first + per_row);
    }
  *to.border = to.at;
  return column::strings(row, rows_, std::move(to.borders).freeze(),
                         std::move(to.bytes).freeze(static_cast<size_t>(to.at)));
}

column column_gather::nested(dtype type) const {
  std::vector<column> out;
  out.reserve(rows_);
  for (const auto& run : runs_)
    for (size_t i = 0; i < run.count; ++i) out.push_back(of(run).nested_row(run.first + i));
  return column::nested(type, std::move(out));
}

std::optional<column> column_gather::variable(dtype type) const {
  std::optional<size_t> rank;
  size_t values = 0;
  for (const auto& run : runs_)
    for (size_t i = 0; i < run.count; ++i) {
      if (failed(run, i))
        continue;
      const auto& c = of(run);
      if (rank && *rank != c.rank())
        return std::nullopt;
      rank = c.rank();
      values +=
        static_cast<size_t>(c.first_value(run.first + i + 1) - c.first_value(run.first + i));
    }
  mutable_buffer starts{(rows_ + 1) * word}, dims{rows_ * *rank * word};
  const auto value_bytes = size_of(type);
  auto text = type == dtype::string ? start_strings(values) : string_copy{};
  mutable_buffer numbers{values * value_bytes};
  auto* start = starts.as<int64_t>().data();
  auto* dim = dims.as<int64_t>().data();
  int64_t at = 0;
  for (const auto& run : runs_)
    for (size_t i = 0; i < run.count; ++i) {
      const auto& c = of(run);
      *start++ = at;
      if (failed(run, i)) {
        for (size_t d = 0; d < *rank; ++d) *dim++ = 0;
        continue;
      }
      const auto row = c.shape_of(run.first + i);
      for (auto extent : row.dims()) *dim++ = extent;
      const auto first = static_cast<size_t>(c.first_value(run.first + i));
      const auto count = static_cast<size_t>(*row.elements());
      if (type == dtype::string)
        append_strings(text, c, first, first + count);
      else if (count != 0)
        std::memcpy(numbers.data() + static_cast<size_t>(at) * value_bytes,
                    c.value_buffer().data() + first * value_bytes, count * value_bytes);
      at += static_cast<int64_t>(count);
    }
  *start = at;
  if (type != dtype::string)
    return column::variable(type, *rank, rows_, std::move(numbers).freeze(),
                            std::move(starts).freeze(), std::move(dims).freeze());
  *text.border = text.at;
  return column::variable_strings(*rank, rows_, std::move(text.borders).freeze(),
                                  std::move(text.bytes).freeze(static_cast<size_t>(text.at)), 0,
                                  std::move(starts).freeze(), std::move(dims).freeze());
}

} // namespace headrace::detail
