#include "headrace/pipeline/sources/numbers.hpp"
#include "headrace/pipeline/sources/source_rows.hpp"

namespace headrace::detail {

opened open_range(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  const auto number = [&](size_t i) { return values[i].values<int64_t>()[0]; };
  if (number(2) == 0)
    return invalid_argument("range: step is 0; it must be another number");
  // Unsigned: sums wrap.
  const auto start = static_cast<uint64_t>(number(0)), step = static_cast<uint64_t>(number(2));
  return open_numbers(
    shared, *node, at, numbers_in(number(0), number(1), number(2)),
    [start, step](uint64_t row) { return static_cast<int64_t>(start + row * step); });
}

} // namespace headrace::detail
