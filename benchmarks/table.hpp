#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace headrace::detail::bench {

/// A measurement, and the limit on the same machine with which it is compared.
struct bench_case {
  std::string name;
  std::string unit;
  std::string limit_name;
  std::function<double()> ours;
  std::function<double()> limit;
  /// The number of measurements of the case, and of the limit; 0: the value of `--runs`.
  size_t runs = 0;
};

/// The medians of one measured case.
struct row {
  std::string name;
  double value = 0;
  std::string unit;
  double limit = 0;
  std::string limit_name;
  size_t runs = 0;
};

double median(std::vector<double> xs);

/// Measures the case and its limit in pairs. The limit is measured first in one pair and last in
/// the next, so that neither a slower machine nor the content of caches favours one of them. `done`
/// is called before each pair with the number of pairs measured before; it may be empty.
row measure(const bench_case& what, size_t runs, const std::function<void(size_t done)>& done = {});

/// A function that returns `x`, for a limit that is not measured.
inline std::function<double()> fixed(double x) {
  return [x] { return x; };
}

void print_header();
void print(const row& x);
/// Prints one JSON object on a line.
void print_json(std::FILE* to, const row& x);

} // namespace headrace::detail::bench
