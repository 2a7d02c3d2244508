#include "benchmarks/cases.hpp"
#include "benchmarks/kernel_cases.hpp"

namespace headrace::detail::bench {

namespace {

constexpr size_t full_block = 1000;

void add(std::vector<bench_case>& to, const kernel_case& what, size_t block_rows) {
  const auto name = "kernel_calls_" + what.name + (block_rows == 1 ? "_by_one" : "");
  const auto per_thousand = [what, block_rows](auto calls_of) {
    return [what, block_rows, calls_of] {
      const auto taken = count_kernel_calls(what, block_rows);
      return taken.rows == 0 ? 0 : 1000. * calls_of(taken) / static_cast<double>(taken.rows);
    };
  };
  to.push_back({name, "calls/1000 rows", "one a block and column",
                per_thousand([](const kernel_counts& x) {
                  return static_cast<double>(x.calls + x.inner_calls);
                }),
                per_thousand([](const kernel_counts& x) {
                  return static_cast<double>(x.limit + x.inner_limit);
                }),
                1});
}

} // namespace

void add_kernel_calls(std::vector<bench_case>& to) {
  for (const auto& cases : {operator_cases(HEADRACE_DATA_DIR), expression_cases(HEADRACE_DATA_DIR)})
    for (const auto& x : cases) {
      add(to, x, full_block);
      add(to, x, 1);
    }
}

} // namespace headrace::detail::bench
