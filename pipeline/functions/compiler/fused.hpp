#pragma once

#include "headrace/pipeline/functions/operations/alignment.hpp"
#include "headrace/pipeline/kernels/check.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

namespace headrace::detail {

/// True if `node` may run as a part of a fused pass: it is an elementwise function of numbers. Some
/// of these functions are checked (see `is_checked`).
bool is_fusable(const expr_node& node) noexcept;

/// True if an elementwise function of numbers can fail for some values (division of integers, a
/// narrowing cast ...). Such a function is a pass of its own.
bool is_checked(const expr_node& node) noexcept;

/// Elementwise functions of numbers that run in one pass over tiles that stay in the cache: each
/// input is read once and each result is written once, for any number of functions.
///
/// All results have the same shapes: the shapes to which the inputs broadcast.
class fused_pass {
public:
  struct step {
    const expr_node* node = nullptr;
    /// For each operand a number `i`: input `i` of the pass if `i >= 0`, else the result of step
    /// `-1 - i` of the pass.
    std::vector<int> operands;
    bool kept = false; ///< the result is used outside this pass
  };

  /// @pre the operands of each step are inputs, or results of earlier steps
  fused_pass(std::vector<step> steps, size_t inputs);

  /// Returns the results of the kept steps, in order. `call` has the inputs of the pass and the
  /// node of any of its steps. A checked step adds errors to `call`. Error rows may have any value.
  std::vector<column> run(const op_call& call) const;

private:
  struct kernel {
    kernels::tile_fn forms[3] = {};
    dtype type{};    ///< the dtype of the result
    int reg = -1;    ///< the temporary that holds the result, if it is not an output
    int output = -1; ///< the index of the output
    kernels::find_bad_fn check = nullptr;
    int checked = 0; ///< the index of the checked operand
    size_t uses = 0; ///< the number of uses of the result by steps of this pass
  };
  /// The kernel that is chosen for one call of `run`. The choice depends on which operands have one
  /// value for all rows, and this is known only in a call.
  struct planned {
    kernels::tile_fn fn = nullptr;
    size_t step = 0;      ///< the step whose result it computes
    int operands[3] = {}; ///< as in the struct `step`
    int count = 0;
  };
  struct tile_state;
  std::vector<planned> plan(const alignment& to) const;
  void run_tile(const op_call& call, const alignment& to, tile_state& state, int64_t first,
                size_t n) const;
  void check_tile(const op_call& call, const alignment& to, tile_state& state, const kernel& k,
                  const expr_node& node, const void* values, int64_t first, size_t n) const;

  std::vector<step> steps_;
  std::vector<kernel> kernels_;
  std::vector<size_t> register_sizes_; ///< for each register, the bytes of a value in it
  size_t inputs_;
  size_t outputs_ = 0;
  size_t widest_ = 1;
};

} // namespace headrace::detail
