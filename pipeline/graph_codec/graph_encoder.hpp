#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <headrace/schemas/dataset.capnp.h>
#include <span>
#include <unordered_map>

namespace headrace::detail {

/// Numbers the nodes of a graph depth first, and writes them. Expressions and datasets come after
/// the nodes that they use.
class graph_encoder {
public:
  /// Fails if the constants are too large, or if a parameter is used outside of its function.
  status encode(const dataset_ptr& graph, schema::DatasetGraph::Builder out);

  /// The number of a node in the message. @pre the node was visited
  uint32_t number(const dataset_ptr& x) const { return dataset_numbers_.at(x.get()); }
  uint32_t number(const expr_ptr& x) const { return expression_numbers_.at(x.get()); }
  uint32_t number(const function_ptr& x) const { return function_numbers_.at(x.get()); }

private:
  void visit(const dataset_ptr& x);
  void visit(const expr_ptr& x);
  void visit(const function_ptr& x);
  void write(const function& x, schema::Function::Builder out) const;

  std::vector<const dataset_node*> datasets_;
  std::vector<const expr_node*> expressions_;
  std::vector<const function*> functions_;
  std::unordered_map<const dataset_node*, uint32_t> dataset_numbers_;
  std::unordered_map<const expr_node*, uint32_t> expression_numbers_;
  std::unordered_map<const function*, uint32_t> function_numbers_;
  std::unordered_map<const function_scope*, uint32_t> scope_numbers_;
  size_t constant_bytes_ = 0;
};

} // namespace headrace::detail
