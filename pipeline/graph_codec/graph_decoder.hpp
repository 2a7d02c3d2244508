#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <headrace/schemas/dataset.capnp.h>
#include <set>

namespace headrace::detail {

/// Builds a graph from its message through the checked makers. Refuses graphs that are too deep or
/// too large to run, and parameters outside of their functions.
class graph_decoder {
public:
  result<dataset_ptr> decode(schema::DatasetGraph::Reader in);

private:
  friend class node_reader;

  using numbers = std::set<uint32_t>;
  template <class Ptr>
  struct decoded {
    Ptr value;
    numbers free;     ///< the numbers of enclosing functions whose parameters the node uses
    size_t depth = 1; ///< the number of nodes in the longest chain of nodes from this node down
    /// The number of operators that run for this node: the node and all operators below it. The
    /// operators of a shared node count once for each use.
    size_t weight = 1;
  };

  result<decoded<expr_ptr>> decode(schema::Expression::Reader in);
  status start_function(schema::Function::Reader in);
  result<const decoded<function_ptr>*> finish_function(uint32_t number);
  /// Refuses operators that this build does not define.
  result<dataset_ptr> decode_dataset(schema::Dataset::Reader in, decoded<dataset_ptr>& user);

  /// Finds the node `number`, and adds its depth, weight and enclosing functions to the values of
  /// `user`, the node that uses it.
  template <class Ptr, class User>
  result<Ptr> find(const std::vector<decoded<Ptr>>& all, uint32_t number, const char* kind,
                   decoded<User>& user) const;
  result<expr_ptr> tensor(uint32_t number, decoded<dataset_ptr>& user) const;
  result<dataset_ptr> input(uint32_t number, decoded<dataset_ptr>& user) const;
  result<std::vector<expr_ptr>> tensors(::capnp::List<uint32_t>::Reader numbers,
                                        decoded<dataset_ptr>& user) const;
  result<std::vector<dataset_ptr>> inputs(::capnp::List<uint32_t>::Reader numbers,
                                          decoded<dataset_ptr>& user) const;
  result<function_ptr> body(uint32_t number, decoded<dataset_ptr>& user);

  schema::DatasetGraph::Reader in_;
  /// The message's list of functions. It is fetched once, because each fetch of the list counts all
  /// its bytes against the message's traversal limit.
  ::capnp::List<schema::Function>::Reader functions_in_;
  std::vector<decoded<expr_ptr>> expressions_;
  std::vector<decoded<dataset_ptr>> datasets_;
  std::vector<std::shared_ptr<function>> started_;
  std::vector<decoded<function_ptr>> functions_; ///< the value is null until `finish_function`
};

} // namespace headrace::detail
