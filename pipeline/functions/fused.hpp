#pragma once

#include "headrace/pipeline/functions/alignment.hpp"
#include "headrace/pipeline/kernels/check.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

namespace headrace::detail {

/// May `node` run as a part of a fused pass: is it an elementwise function of numbers? Some of them
/// are checked (see `is_checked`).
bool is_fusable(const expr_node& node) noexcept;

/// Can an elementwise function of numbers fail for some values (division of integers by what may be
/// zero, a narrowing cast ...)? Such a function is a pass of its own.
bool is_checked(const expr_node& node) noexcept;

/// Elementwise functions of numbers run in one pass over tiles that stay in the cache: each value
/// is read once and written once however many functions there are.
///
/// All results have the same shapes: those of the inputs, broadcast.
class fused_pass {
public:
  struct step {
    const expr_node* node = nullptr;
    /// An input (`>= 0`), or step `-1 - i` of this pass.
    std::vector<int> operands;
    bool kept = false; ///< is the result used outside of this pass?
  };

  /// @pre each step's operands come before it
  fused_pass(std::vector<step> steps, size_t inputs);

  /// The results of the kept steps, in order. A checked step adds errors to `call`, whose node is
  /// that of any step and whose inputs are the pass's. Rows that failed have some value.
  std::vector<column> run(const op_call& call) const;

private:
  struct kernel {
    kernels::tile_fn forms[3] = {};
    dtype type{};    ///< of the result
    int reg = -1;    ///< which temporary holds the result, or
    int output = -1; ///< which output it is
    kernels::find_bad_fn check = nullptr;
    int checked = 0; ///< which operand is looked at
    size_t uses = 0; ///< by steps of this pass
  };
  /// A kernel as it runs in one call, where it is known which operands are one value for all rows.
  struct planned {
    kernels::tile_fn fn = nullptr;
    size_t step = 0;      ///< whose result it gives
    int operands[3] = {}; ///< as of a step
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
  std::vector<size_t> register_sizes_; ///< bytes a value
  size_t inputs_;
  size_t outputs_ = 0;
  size_t widest_ = 1;
};

} // namespace headrace::detail
