#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/result.hpp"

#include <memory>
#include <span>

namespace headrace {

/// Values of the parameters of one enclosing function, seen from a dataset or function inside it.
struct environment {
  const function_scope* scope = nullptr;
  std::span<const column> values; ///< one row each
  const environment* outer = nullptr;
};

/// Counts the column kernels that a program ran.
struct kernel_counter {
  uint64_t calls = 0;
};

/// Expressions compiled to run over the columns of whole blocks: each node at most one kernel call
/// a block, chains of elementwise functions in one pass. Immutable and cheap to copy; any number of
/// threads may run it at once.
class program {
public:
  /// Evaluates for each row of `in` (whose columns are the function's parameters). The result has
  /// one column an expression, as many rows as `in`, and its origins. A row that failed stays
  /// failed; a row in which a function fails gets that error (the first, in the order of the
  /// results and their operands) and the others go on. Results do not depend on how rows are cut
  /// into blocks. `outer`: the enclosing functions, if the expressions capture anything. @pre
  /// `in.rows > 0`, its columns are as the function's argument announces
  block run(const block& in, const environment* outer, kernel_counter& counter) const;

  /// Evaluates expressions without parameters of their own to one row each. Fails as the row does.
  result<std::vector<column>> run_once(const environment* outer) const;

  struct plan; ///< see compile.hpp

private:
  friend program compile(const std::vector<expr_ptr>&, const function_scope*);
  friend program compile(const function&);
  std::shared_ptr<const plan> plan_;
};

/// Compiles expressions whose own parameters are those of `scope` (null: none).
program compile(const std::vector<expr_ptr>& tensors, const function_scope* scope = nullptr);
/// Compiles a traced function that gives tensors. @pre `f.named.empty() && !f.dataset`
program compile(const function& f);

} // namespace headrace
