#pragma once

#include "headrace/pipeline/functions/compiler/compile.hpp"

namespace headrace::detail {

/// One run of a plan over the rows of a block.
class evaluation {
public:
  evaluation(const program::plan& plan, const block& in, const environment* outer,
             kernel_counter& counter)
    : plan_(plan), in_(in), outer_(outer), counter_(counter), values_(plan.items.size()) {}

  block run();
  /// The results as they are, uniform ones with one row.
  std::vector<const value*> run_values();

private:
  const value& at(size_t i) const {
    return plan_.items[i].what == program::plan::kind::constant ? plan_.items[i].ready : values_[i];
  }
  void load_base();
  void run_step(const program::plan::step& step);
  void run_pass(const program::plan::step& step);
  void run_single(const program::plan::step& step, size_t node, const fused_pass* pass);
  /// Rows that need not be evaluated in a step; `own` is memory for the result.
  const std::vector<uint8_t>& skipped(const program::plan::step& step,
                                      std::vector<uint8_t>& own) const;
  bool shapes_alike(const program::plan::step& step) const;

  const program::plan& plan_;
  const block& in_;
  const environment* outer_;
  kernel_counter& counter_;
  std::vector<value> values_;
  std::vector<uint8_t> failed_before_; ///< one for each row; empty if there are none
};

/// Computes a node whose inputs are ready constants of `plan`.
value evaluate_constant(const expr_ptr& node, const std::vector<size_t>& inputs,
                        const program::plan& plan);

} // namespace headrace::detail
