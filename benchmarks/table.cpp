#include "benchmarks/table.hpp"

#include <algorithm>

namespace headrace::detail::bench {

double median(std::vector<double> xs) {
  std::sort(xs.begin(), xs.end());
  return xs.empty() ? 0 : xs[xs.size() / 2];
}

row measure(const bench_case& what, size_t runs, const std::function<void(size_t)>& done) {
  std::vector<double> ours, limits;
  for (size_t i = 0; i < runs; ++i) {
    if (done)
      done(i);
    if (i % 2 == 1)
      ours.push_back(what.ours());
    limits.push_back(what.limit());
    if (i % 2 == 0)
      ours.push_back(what.ours());
  }
  return {what.name, median(ours), what.unit, median(limits), what.limit_name, runs};
}

void print_header() {
  std::printf("%-46s %10s %-16s %10s %7s  %s\n", "case", "value", "unit", "limit", "ratio",
              "limit is");
  std::fflush(stdout);
}

void print(const row& x) {
  std::printf("%-46s %10.4g %-16s %10.4g ", x.name.c_str(), x.value, x.unit.c_str(), x.limit);
  if (x.limit == 0)
    std::printf("%7s", "-");
  else
    std::printf("%7.3f", x.value / x.limit);
  std::printf("  %s\n", x.limit_name.c_str());
  std::fflush(stdout);
}

void print_json(std::FILE* to, const row& x) {
  std::fprintf(to,
               "{\"case\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"limit\": %.6g, "
               "\"limit_name\": \"%s\", \"runs\": %zu}\n",
               x.name.c_str(), x.value, x.unit.c_str(), x.limit, x.limit_name.c_str(), x.runs);
  std::fflush(to);
}

} // namespace headrace::detail::bench
