#pragma once

#include "headrace/pipeline/functions/compiler/compile.hpp"

#include <functional>

namespace headrace::detail {

/// One run of a plan over the rows of a block.
class evaluation {
public:
  evaluation(const program::plan& plan, const block& in, const environment* outer,
             kernel_counter& counter)
    : plan_(plan), in_(in), outer_(outer), counter_(counter), values_(plan.items.size()) {}
  /// A run of the condition or of a step of a loop. `variables`: the values of the loop's
  /// variables, then of its captures; if the loop uses seeds, they are the last capture. `in` and
  /// `variables` must outlive this object.
  evaluation(const program::plan& plan, const block& in, std::span<const value> variables,
             kernel_counter& counter)
    : evaluation(plan, in, static_cast<const environment*>(nullptr), counter) {
    variables_ = variables;
  }

  block run();
  /// The results. A uniform result has one row.
  std::vector<const value*> run_values();

private:
  const value& at(size_t i) const {
    return plan_.items[i].what == program::plan::kind::constant ? plan_.items[i].ready : values_[i];
  }
  void load_base();
  void run_step(const program::plan::step& step);
  void run_pass(const program::plan::step& step);
  void run_loop(const program::plan::step& step);
  void run_bands(const program::plan::step& step);
  void run_single(const program::plan::step& step, size_t node, const fused_pass* pass);
  /// For each row, 1 if it need not be evaluated in the step; empty: all rows must be evaluated.
  /// `own` is memory for the result.
  const std::vector<uint8_t>& skipped(const program::plan::step& step,
                                      std::vector<uint8_t>& own) const;
  bool shapes_alike(const program::plan::step& step) const;

  const program::plan& plan_;
  const block& in_;
  const environment* outer_;
  kernel_counter& counter_;
  std::span<const value> variables_;
  std::vector<value> values_;
  std::vector<uint8_t> failed_before_; ///< for each row, 1 if `in_` has an error; empty: no errors
};

/// Adds the errors of `more` to `into`, except for rows that already have an error in `into`. Both
/// are in ascending order of rows.
void merge(std::vector<row_error>& into, const std::vector<row_error>& more);
/// The errors of `x`. If `x` is uniform and the parameter `uniform` is false, the error of its only
/// row is returned for each of `rows` rows.
std::vector<row_error> spread(const value& x, size_t rows, bool uniform);
/// Appends row `r` of `from`. Extents of 1 are put before the extents of the row, so that it has
/// the rank `rank`.
void append_row(column_builder& out, const value& from, size_t r, size_t rank);

struct call_result {
  std::vector<column> columns;
  std::vector<row_error> errors;
};

/// Calls `f` with the columns of `inputs`. The errors of the result are the errors that `f` adds,
/// and the errors of the inputs except errors in a branch that the row does not choose.
call_result call_with(const expr_node& node, std::span<const value* const> inputs, size_t rows,
                      bool uniform, const std::vector<uint8_t>& failed_before,
                      const std::function<std::vector<column>(const op_call&)>& f);

/// Computes a node whose inputs are ready constants of `plan`.
value evaluate_constant(const expr_ptr& node, const std::vector<size_t>& inputs,
                        const program::plan& plan);

} // namespace headrace::detail
