#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/result.hpp"

#include <memory>
#include <span>
#include <stop_token>

namespace headrace::detail {

/// The values of the parameters of one enclosing function, which a dataset or function inside it
/// may use.
struct environment {
  const function_scope* scope = nullptr;
  std::span<const column> values; ///< a column of one row for each parameter
  const environment* outer = nullptr;
};

/// The number of column kernels that a program ran, and the stop request for its loops.
struct kernel_counter {
  uint64_t calls = 0;
  /// When a stop is requested, rows that are still in a loop fail with `cancelled`.
  std::stop_token stop{};
};

/// Expressions compiled to run over the columns of whole blocks: outside of loops, each node needs
/// at most one kernel call for each block, and chains of elementwise functions run in one pass.
/// Immutable and cheap to copy; any number of threads may run it at once.
class program {
public:
  /// Evaluates the expressions for each row of `in` (whose columns are the function's parameters).
  /// The result has one column for each expression, and the rows and origins of `in`. An error row
  /// keeps its error. A row in which a function fails becomes an error row with the error of that
  /// function (the first one, in the order of the results and their operands), and the other rows
  /// are evaluated further. Results do not depend on the division of rows into blocks, except that
  /// a row of `cond` or `parse_tensor` fails if its rank is not that of the first value in its
  /// block. `outer`: the enclosing functions whose parameters the expressions may use; null: none.
  /// @pre `in.rows > 0`, and the columns of `in` are those of the function's argument
  block run(const block& in, const environment* outer, kernel_counter& counter) const;

  /// Evaluates expressions that use no parameters except those of `outer`. Returns a column of one
  /// row for each expression, or the error of the only row.
  result<std::vector<column>> run_once(const environment* outer) const;

  struct plan; ///< see compile.hpp

private:
  friend program compile(const std::vector<expr_ptr>&, const function_scope*);
  friend program compile(const function&);
  std::shared_ptr<const plan> plan_;
};

/// Compiles expressions whose own parameters are those of `scope` (null: none).
program compile(const std::vector<expr_ptr>& tensors, const function_scope* scope = nullptr);
/// Compiles a traced function that returns tensors. @pre `f.named.empty() && !f.dataset`
program compile(const function& f);

} // namespace headrace::detail
