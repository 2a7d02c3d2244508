#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

/// A number that an operator is given: one that is known when the graph is made, or an expression
/// (an int64 scalar) that depends on the element whose function gives the dataset.
class number_argument {
public:
  number_argument(int64_t known) : known_(known) {}
  /// A constant is a known number.
  number_argument(expr_ptr computed);

  known_number known() const noexcept { return known_; }
  /// Ok if the number is known, or an int64 scalar.
  status check(dataset_op op, std::string_view name) const;
  /// Makes the expression, if there is one, the last of the node's tensors.
  void put_into(dataset_node& node) const;

private:
  known_number known_;
  expr_ptr computed_;
};

} // namespace headrace
