#include "headrace/actors/stream/fragment.hpp"

#include <algorithm>
#include <cassert>

namespace headrace::stream {

namespace {

uint64_t bytes_of(const block& base, uint32_t first, uint32_t rows) {
  uint64_t n = 0;
  for (const auto& c : base.columns) n += c.slice(first, rows).bytes();
  return n;
}

} // namespace

fragment fragment::whole(std::shared_ptr<const block> base, uint64_t index) {
  const auto rows = static_cast<uint32_t>(base->rows);
  const auto bytes = base->bytes();
  return {std::move(base), index, 0, rows, bytes};
}

fragment fragment::take_front(uint32_t count) {
  assert(count > 0 && count < rows);
  fragment front{base, index, first, count, bytes_of(*base, first, count)};
  index += count;
  first += count;
  rows -= count;
  bytes = bytes_of(*base, first, rows);
  return front;
}

fragment fragment::take_back(uint32_t keep) {
  auto front = take_front(keep);
  std::swap(front, *this);
  return front;
}

void fragment::append(const fragment& next) noexcept {
  rows += next.rows;
  bytes += next.bytes;
}

std::shared_ptr<const block> fragment::view() const {
  return is_whole() ? base : std::make_shared<const block>(base->slice(first, rows));
}

uint32_t fragment::rows_within(uint64_t budget) const {
  if (bytes <= budget)
    return rows;
  // An even spread is the first guess; rows of uneven size may need a smaller one.
  const auto guess = static_cast<double>(rows) * static_cast<double>(budget)
                     / static_cast<double>(std::max<uint64_t>(bytes, 1));
  auto count = std::min(static_cast<uint32_t>(guess), rows);
  while (count > 0 && bytes_of(*base, first, count) > budget) count /= 2;
  return count;
}

} // namespace headrace::stream
