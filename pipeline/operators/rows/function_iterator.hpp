#pragma once

#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/operators/rows/seeded_rows.hpp"

namespace headrace::detail {

/// Runs a function over the blocks of its input, and holds no blocks. If the function uses seeds,
/// the input's blocks have a column of seeds after the others.
class function_iterator : public operator_iterator {
public:
  function_iterator(engine& shared, const dataset_node& node, const place& at,
                    std::shared_ptr<const compiled_function> body, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      row_(at.row),
      body_(std::move(body)) {}

protected:
  block call(const block& in) {
    return body_->run(in, row_ ? &row_->names : nullptr, kernel_calls_);
  }
  // The position of the input is saved as a part of this one.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

  std::unique_ptr<iterator> input_;

private:
  std::shared_ptr<const function_row> row_;
  std::shared_ptr<const compiled_function> body_;
};

/// The arguments of an operator with a function and one input.
struct function_and_input {
  std::shared_ptr<const compiled_function> body;
  std::unique_ptr<iterator> input;
};
inline result<function_and_input> open_function(engine& shared, const dataset_ptr& node,
                                                const place& at) {
  HEADRACE_ASSIGN(auto body, shared.compiled(*node));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return function_and_input{std::move(body), with_row_seeds(shared, *node, at, std::move(input))};
}

/// Opens an operator whose iterator has the constructor of `function_iterator`.
template <class Iterator>
opened open_over_function(engine& shared, const dataset_ptr& node, const place& at,
                          function_and_input with) {
  return std::unique_ptr<iterator>{
    std::make_unique<Iterator>(shared, *node, at, std::move(with.body), std::move(with.input))};
}

} // namespace headrace::detail
