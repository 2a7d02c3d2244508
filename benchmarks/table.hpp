#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace headrace::bench {

/// A figure to take, and the limit of the same machine that it is held against.
struct bench_case {
  std::string name;
  std::string unit;
  std::string limit_name;
  std::function<double()> ours;
  std::function<double()> limit;
  /// How many pairs; 0: as many as the caller of the program asked for.
  size_t runs = 0;
};

/// One measured case, as medians.
struct row {
  std::string name;
  double value = 0;
  std::string unit;
  double limit = 0;
  std::string limit_name;
  size_t runs = 0;
};

double median(std::vector<double> xs);

/// Takes case and limit in turn, each first every other time, so that neither a machine that slows
/// down nor what one leaves in the caches favours one of them. `done`: pairs taken so far.
row measure(const bench_case& what, size_t runs, const std::function<void(size_t done)>& done = {});

/// For limits that are promised, not measured.
inline std::function<double()> fixed(double x) {
  return [x] { return x; };
}

void print_header();
void print(const row& x);
/// One JSON object in a line.
void print_json(std::FILE* to, const row& x);

} // namespace headrace::bench
