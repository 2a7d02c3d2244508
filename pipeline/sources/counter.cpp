#include "headrace/pipeline/operators/open.hpp"
#include "headrace/pipeline/sources/numbers.hpp"

namespace headrace::detail {

opened open_counter(engine& shared, const dataset_ptr& node, const place& at) {
  const auto start = static_cast<uint64_t>(node->as<counter_parameters>().start);
  const auto step =
    static_cast<uint64_t>(node->as<counter_parameters>().step); // unsigned: sums wrap
  return open_numbers(shared, *node, at, endless_rows,
                      [=](uint64_t row) { return static_cast<int64_t>(start + row * step); });
}

} // namespace headrace::detail
