#include "pool_answer.hpp"

#include "headrace/runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace headrace::detail::python {

namespace {

constexpr size_t most_text_bytes = 1 << 16;

status no_answer(const std::string& why) {
  return data_loss(
    fmt::format("the process that ran a Python function gave no answer of its form: {}", why));
}

/// The beginning of a text for a message, which must be UTF-8 without NULs: other bytes become '?'.
std::string plain(std::string_view text) {
  std::string out{utf8_prefix(text, most_text_bytes)};
  for (size_t i = 0; i < out.size();) {
    const auto length = out[i] == '\0' ? 0 : utf8_length(out, i);
    if (length == 0)
      out[i] = '?';
    i += std::max<size_t>(length, 1);
  }
  return out;
}

/// True if a row of a Python function may have an error of this code. `out_of_range` is not
/// allowed, because it would look like the end of the dataset.
bool is_of_row(status_code why) {
  return why == status_code::unknown || why == status_code::invalid_argument
         || why == status_code::resource_exhausted || why == status_code::unimplemented;
}

} // namespace

pool_answer::pool_answer(std::string_view bytes, const std::vector<tensor_spec>& declared)
  : rest_(bytes.substr(std::min(bytes.size(), header_bytes))),
    declared_(declared),
    row_(declared.size()) {}

bool pool_answer::take(size_t count, std::string_view& into) {
  if (count > rest_.size())
    return false;
  into = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return true;
}

bool pool_answer::take_number(size_t bytes, uint64_t& into) {
  std::string_view from;
  if (!take(bytes, from))
    return false;
  into = 0;
  for (size_t i = 0; i < bytes; ++i)
    into |= uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  return true;
}

status pool_answer::read_values(const tensor_spec& spec, value& into) {
  uint64_t rank = 0;
  if (!take_number(1, rank))
    return no_answer("it ends within a row");
  std::vector<int64_t> dims;
  for (uint64_t i = 0; i < rank; ++i) {
    uint64_t extent = 0;
    if (!take_number(8, extent))
      return no_answer("it ends within a shape");
    if (extent > static_cast<uint64_t>(shape::most_values))
      return no_answer("a shape is larger than any tensor");
    dims.push_back(static_cast<int64_t>(extent));
  }
  into.dims = shape{std::move(dims)};
  if (!into.dims.is_bounded())
    return no_answer("a shape is larger than any tensor");
  const auto count = static_cast<uint64_t>(*into.dims.elements());
  if (!spec.dims.accepts(into.dims))
    return no_answer(fmt::format("a component has the shape {}; it was declared as {}",
                                 to_string(into.dims), to_string(spec)));
  into.count = count;
  if (spec.type == dtype::string) {
    const auto all = rest_;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t length = 0;
      std::string_view text;
      if (!take_number(8, length) || !take(length, text))
        return no_answer("it ends within a string");
    }
    into.bytes = all.substr(0, all.size() - rest_.size());
    return {};
  }
  const auto size = size_of(spec.type);
  if (count > rest_.size() / size || !take(count * size, into.bytes))
    return no_answer(fmt::format("it ends within {} values of {}", count, to_string(spec.type)));
  if (spec.type == dtype::boolean
      && std::any_of(into.bytes.begin(), into.bytes.end(), [](char x) { return x != 0 && x != 1; }))
    return no_answer("a bool is neither 0 nor 1");
  return {};
}

status pool_answer::read_row() {
  uint64_t failed = 0;
  if (!take_number(1, failed) || (failed && !is_of_row(static_cast<status_code>(failed))))
    return no_answer("there is no row where one must be");
  if (failed) {
    uint64_t length = 0;
    std::string_view text;
    if (!take_number(4, length) || !take(length, text))
      return no_answer("it ends within a text");
    return {static_cast<status_code>(failed), plain(text)};
  }
  for (size_t i = 0; i < declared_.size(); ++i) HEADRACE_TRY(read_values(declared_[i], row_[i]));
  return {};
}

status pool_answer::next(std::vector<detail::column_builder>& to) {
  if (broken_)
    return no_answer("the rows before it cannot be read");
  if (auto why = read_row(); !why) {
    broken_ = why.code() == status_code::data_loss;
    return why;
  }
  for (size_t i = 0; i < declared_.size(); ++i) {
    auto& from = row_[i];
    if (declared_[i].type == dtype::string) {
      const auto rest = std::exchange(rest_, from.bytes);
      for (size_t k = 0; k < from.count; ++k) {
        uint64_t length = 0;
        std::string_view text;
        take_number(8, length);
        take(length, text);
        to[i].add_string(text);
      }
      rest_ = rest;
    } else if (from.count != 0) {
      std::memcpy(to[i].extend(from.count), from.bytes.data(), from.bytes.size());
    }
    to[i].end_row(from.dims);
  }
  return {};
}

} // namespace headrace::detail::python
