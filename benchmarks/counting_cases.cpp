#include "benchmarks/cases.hpp"

#include <headrace/headrace.hpp>
#include <headrace/pipeline/explain/operator_table.hpp>
#include <headrace/pipeline/iterator/iterator.hpp>

#include <ctime>

namespace headrace::detail::bench {

namespace {

constexpr int64_t numbers = 4'000'000;
constexpr int64_t batch = 64;
/// The number of pairs of measurements, with and without counters. It is large enough that the
/// medians show a difference of one percent.
constexpr size_t pairs = 101;

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Reads a dataset in blocks whose sizes `block_ramp` chooses, as a task does. Returns the number
/// of rows per second of this thread's processor time.
double rows_per_second(const dataset& of, bool counted) {
  operator_table table{of.node()};
  iterator_context context;
  if (counted)
    context.counters = [&](const dataset_node& node) { return table.counters(node); };
  const auto began = thread_seconds();
  auto it = make_iterator(of.node(), context).value();
  block_ramp ramp;
  uint64_t rows = 0;
  for (;;) {
    const auto before = clock::system().now();
    const auto b = it->next(ramp.next());
    if (!b)
      break;
    ramp.record(b->rows, b->bytes(), clock::system().now() - before);
    rows += b->rows;
  }
  return static_cast<double>(rows) / (thread_seconds() - began);
}

bench_case counting(std::string name, dataset of) {
  return {.name = std::move(name),
          .unit = "M rows/s",
          .limit_name = "not counted",
          .ours = [of] { return rows_per_second(of, true) / 1e6; },
          .limit = [of] { return rows_per_second(of, false) / 1e6; },
          .runs = pairs};
}

} // namespace

void add_counting_cases(std::vector<bench_case>& to) {
  const auto chain = dataset::range(numbers)
                       .map([](expr x) { return x * 3 + 1; })
                       .filter([](expr x) { return x % 7 != 0; })
                       .map([](expr x) { return x - 5; });
  to.push_back(counting("counting_chain", chain));
  to.push_back(counting("counting_batches", chain.batch(batch)));
}

} // namespace headrace::detail::bench
