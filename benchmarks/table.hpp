#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace headrace::bench {

/// One measured case beside the limit it is held against, as medians of runs taken in turn.
struct row {
  std::string name;
  double value = 0;
  std::string unit;
  double limit = 0;
  std::string limit_name;
  size_t runs = 0;
};

inline double median(std::vector<double> xs) {
  std::sort(xs.begin(), xs.end());
  return xs.empty() ? 0 : xs[xs.size() / 2];
}

/// Calls `ours` and `limit` in turn `runs` times and takes the medians.
template <class Ours, class Limit>
row measure(std::string name, std::string unit, std::string limit_name, size_t runs, Ours&& ours,
            Limit&& limit) {
  std::vector<double> xs, ys;
  for (size_t i = 0; i < runs; ++i) {
    ys.push_back(limit());
    xs.push_back(ours());
  }
  return {std::move(name), median(xs), std::move(unit), median(ys), std::move(limit_name), runs};
}

inline void print_header() {
  std::printf("%-22s %12s %-12s %12s %7s  %s\n", "case", "value", "unit", "limit", "ratio",
              "limit is");
}

inline void print(const row& x) {
  std::printf("%-22s %12.4g %-12s %12.4g %7.3f  %s\n", x.name.c_str(), x.value, x.unit.c_str(),
              x.limit, x.limit == 0 ? 0 : x.value / x.limit, x.limit_name.c_str());
  std::fflush(stdout);
}

inline void print_json(std::FILE* to, const row& x) {
  std::fprintf(to,
               "{\"case\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"limit\": %.6g, "
               "\"limit_name\": \"%s\", "
               "\"runs\": %zu}\n",
               x.name.c_str(), x.value, x.unit.c_str(), x.limit, x.limit_name.c_str(), x.runs);
}

} // namespace headrace::bench
