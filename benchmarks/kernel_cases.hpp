#pragma once

#include <headrace/headrace.hpp>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// How many column kernels operators run: at most one for each block and column that they give, and
/// the same of the operators of the datasets that a function makes.
namespace headrace::bench {

/// An operator over some input.
struct kernel_case {
  std::string name;
  std::function<dataset()> make;
  /// Calls for each block that it gives: its columns, and what choosing its rows takes.
  uint64_t columns = 0;
  /// Calls beside that, in sum.
  uint64_t beside = 0;
  /// Calls for each block of its input: the arguments of the datasets that its function makes.
  uint64_t arguments = 0;
  /// Which operator, where its elements are datasets, so that another one must read them; the
  /// last one of the graph if not given.
  std::optional<dataset_op> below = {};
};

struct kernel_counts {
  uint64_t rows = 0; ///< that the operator gave
  uint64_t calls = 0;
  uint64_t limit = 0;
  uint64_t inner_calls = 0; ///< of the operators of the datasets that functions make
  uint64_t inner_limit = 0;
  std::set<dataset_op> ops; ///< that were counted
};

/// Reads a case in blocks of so many rows. Throws `error` if one fails.
kernel_counts count_kernel_calls(const kernel_case& of, size_t block_rows);

/// Every operator and source. `data`: the folder of the examples' data.
std::vector<kernel_case> operator_cases(const std::string& data);
/// Functions of traced expressions, each as that of a `map`.
std::vector<kernel_case> expression_cases(const std::string& data);

} // namespace headrace::bench
