#include "headrace/pipeline/types/shape.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace {

bool shape::is_static() const noexcept {
  return known_rank_ && std::ranges::find(dims_, unknown) == dims_.end();
}

std::optional<int64_t> shape::elements() const noexcept {
  if (!is_static())
    return std::nullopt;
  int64_t n = 1;
  for (auto dim : dims_) n *= dim;
  return n;
}

bool shape::are_bounded(std::span<const int64_t> dims) noexcept {
  int64_t n = 1;
  for (auto dim : dims)
    if (dim < unknown || (dim > 0 && (__builtin_mul_overflow(n, dim, &n) || n > most_values)))
      return false;
  return true;
}

bool shape::accepts(const shape& other) const noexcept {
  if (!known_rank_)
    return true;
  if (!other.known_rank_ || other.rank() != rank())
    return false;
  for (size_t i = 0; i < rank(); ++i)
    if (dims_[i] != unknown && dims_[i] != other.dims_[i])
      return false;
  return true;
}

shape shape::join(const shape& a, const shape& b) {
  if (!a.known_rank_ || !b.known_rank_ || a.rank() != b.rank())
    return unknown_rank();
  auto out = a;
  for (size_t i = 0; i < a.rank(); ++i)
    if (a.dims_[i] != b.dims_[i])
      out.dims_[i] = unknown;
  return out;
}

shape shape::with_leading(int64_t extent) const {
  if (!known_rank_)
    return *this;
  std::vector<int64_t> dims{extent};
  dims.insert(dims.end(), dims_.begin(), dims_.end());
  return shape{std::move(dims)};
}

shape shape::without_leading() const {
  if (!known_rank_)
    return *this;
  return shape{std::vector<int64_t>{dims_.begin() + 1, dims_.end()}};
}

status check_bounded(const shape& x) {
  if (x.is_bounded())
    return {};
  return invalid_argument(
    fmt::format("the shape {} is too large: the product of its extents, where "
                "0 counts as 1, may be at most {}",
                to_string(x), shape::most_values));
}

std::string to_string(const shape& x) {
  if (!x.has_rank())
    return "<unknown>";
  std::string out = "[";
  for (size_t i = 0; i < x.rank(); ++i)
    out +=
      (i == 0 ? "" : ", ") + (x[i] == shape::unknown ? std::string{"?"} : std::to_string(x[i]));
  return out + "]";
}

} // namespace headrace
