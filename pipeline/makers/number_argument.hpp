#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// A numeric argument of an operator: a number that is set when the graph is made, or an expression
/// (an int64 scalar) that depends on the argument of the function that makes the dataset.
class number_argument {
public:
  number_argument(int64_t known) : known_(known) {}
  /// An expression that is constant is stored as its value.
  number_argument(expr_ptr computed);

  known_number known() const noexcept { return known_; }
  /// Ok if this is a number, or if the expression is an int64 scalar.
  status check(dataset_op op, std::string_view name) const;
  /// Appends the expression, if there is one, to the node's tensors.
  void put_into(dataset_node& node) const;

private:
  known_number known_;
  expr_ptr computed_;
};

} // namespace headrace::detail
