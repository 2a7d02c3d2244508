#pragma once

#include <headrace/headrace.hpp>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// The numbers of kernel calls of operators, and their limits: for each block that an operator
/// returns, one call for each column, and the calls that choose its rows (see `kernel_case`). For
/// the operators of datasets that a function makes the limit is one call for each block and column.
namespace headrace::detail::bench {

/// A dataset, and the limits for the kernel calls of one of its operators.
struct kernel_case {
  std::string name;
  std::function<dataset()> make;
  /// The limit of calls for each block that the operator returns: one for each column, and those
  /// that choose the rows of the block.
  uint64_t columns = 0;
  /// The limit, for the whole dataset, of the calls that neither `columns` nor `arguments` counts.
  uint64_t beside = 0;
  /// The limit of calls for each block that the operator reads, such as the calls that compute the
  /// arguments of the datasets that its function makes.
  uint64_t arguments = 0;
  /// The operator whose calls are counted. Unset: the outermost operator of the graph. It is set if
  /// the elements of the operator are datasets, because an outer operator must read these.
  std::optional<dataset_op> below = {};
};

struct kernel_counts {
  uint64_t rows = 0; ///< the number of rows that the operator returned
  uint64_t calls = 0;
  uint64_t limit = 0;
  uint64_t inner_calls = 0; ///< the calls of operators of the datasets that functions make
  uint64_t inner_limit = 0;
  std::set<dataset_op> ops; ///< the operators that were counted
};

/// Reads the dataset of a case in blocks of `block_rows` rows. Throws `error` for an error row.
kernel_counts count_kernel_calls(const kernel_case& of, size_t block_rows);

/// The cases for every operator and source. `data`: the folder of the examples' data.
std::vector<kernel_case> operator_cases(const std::string& data);
/// The cases for functions of traced expressions, each as the function of a `map`, and a case for a
/// batch of sparse values.
std::vector<kernel_case> expression_cases(const std::string& data);

} // namespace headrace::detail::bench
