#pragma once

#include "headrace/pipeline/functions/compiler/fused.hpp"
#include "headrace/pipeline/functions/representation/program.hpp"

#include <optional>

namespace headrace::detail {

/// The content of a program: values numbered in the order in which they can be computed, and the
/// steps that compute them.
struct program::plan {
  enum class kind : uint8_t { parameter, capture, constant, op, fused, parse, loop, bands };

  struct item {
    expr_ptr node;
    kind what = kind::op;
    std::vector<size_t> inputs;
    bool uniform = false; ///< the value has one row, which stands for all rows
    /// Items that are conditions of a `cond`, each with the branch (true: the first) that uses this
    /// value. A row of this value is needed only if, in that row, every one of these conditions
    /// chooses the branch that is stored with it.
    std::vector<std::pair<size_t, bool>> guards;
    value ready; ///< the value of a constant, or of a node that was folded to a constant
  };

  struct step {
    kind what = kind::op;
    std::vector<size_t> nodes;                   ///< the items that this step computes, in order
    std::vector<size_t> inputs;                  ///< the values of other steps that this step reads
    std::vector<std::pair<size_t, bool>> guards; ///< the guards that all nodes have
    std::optional<fused_pass> pass;
    std::vector<size_t> kept; ///< the items of the pass that are read outside of it
    bool alike = false;       ///< the inputs' shapes are static, so no shapes of rows are compared
    std::vector<fused_pass> single;        ///< for each node of the pass, a pass of this node alone
    std::vector<size_t> done;              ///< the values that no later step reads: they are freed
    std::shared_ptr<const plan> condition; ///< for a loop: computes its condition
    std::shared_ptr<const plan> after;     ///< for a loop: computes the variables after a step
    std::vector<step> members;             ///< for bands: a resize, and the passes over its result
  };

  std::vector<item> items;
  std::vector<step> steps;
  std::vector<size_t> results;
  const function_scope* scope = nullptr;
  /// The number of columns of the function's argument. The block may have one more column, with the
  /// seeds of the rows (see row_seeds.hpp). If the number is 0, there are no seeds.
  size_t parameters = 0;
};

} // namespace headrace::detail
