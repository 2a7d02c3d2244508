#pragma once

#include "tests/pipeline/support/rows.hpp"

#include <fmt/format.h>
#include <random>

/// Random graphs, and their elements, computed one by one without the code of the operators.
namespace headrace::detail::test::random {

/// An element: one number, a vector of numbers, or a failure.
struct element_value {
  bool failed = false;
  bool vector = false;
  std::vector<int64_t> numbers;

  std::string text() const {
    if (failed)
      return "!";
    if (!vector)
      return std::to_string(numbers[0]);
    std::string out = fmt::format("[{}]{{", numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) out += (i ? " " : "") + std::to_string(numbers[i]);
    return out + "}";
  }
};
using elements = std::vector<element_value>;

inline element_value number(int64_t x) { return {false, false, {x}}; }
inline element_value failure() { return {true, false, {}}; }

/// A graph, and the elements that it must give. They are int64 scalars, unless the function that
/// returns the sample makes other elements.
struct sample {
  dataset_ptr graph;
  elements want;
};

/// The sample of a graph that gives the numbers of `rows` one by one, and one failure for each
/// error row.
inline sample flat(const elements& rows, dataset_ptr graph) {
  sample out{std::move(graph), {}};
  for (const auto& row : rows)
    if (row.failed)
      out.want.push_back(failure());
    else
      for (auto x : row.numbers) out.want.push_back(number(x));
  return out;
}

/// The remainder with the sign of the divisor, as floor_mod computes it.
inline int64_t modulo(int64_t x, int64_t by) { return (x % by + by) % by; }

class dice {
public:
  explicit dice(uint64_t seed) : random_(seed) {}
  size_t below(size_t n) { return random_() % n; }
  int64_t between(int64_t a, int64_t b) {
    return a + static_cast<int64_t>(below(static_cast<size_t>(b - a + 1)));
  }
  bool toss() { return below(2) == 0; }

private:
  std::mt19937_64 random_;
};

} // namespace headrace::detail::test::random
