#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/pipeline/graph/operator_list.hpp"
#include "headrace/pipeline/graph/operator_parameters.hpp"

#include <memory>
#include <optional>
#include <span>

namespace headrace {

namespace detail {
struct dataset_node;
}
/// The graph of a dataset.
using dataset_ptr = std::shared_ptr<const detail::dataset_node>;

} // namespace headrace

namespace headrace::detail {

/// A traced function: its parameters (one for each component of `argument`) and its result, which
/// is tensors or a dataset.
struct function {
  std::shared_ptr<const function_scope> scope;
  element_spec argument;
  /// The structure of the result, with one expression for each leaf; empty if the result is a
  /// dataset.
  structure layout;
  std::vector<expr_ptr> tensors;
  dataset_ptr dataset; ///< the result, if it is a dataset; else null
  /// A reference to a function that is not part of the graph, in place of a traced body; empty for
  /// a traced function. `declared` is the spec of the named function's result.
  function_reference named;
  element_spec declared;
  /// The user's guarantee for a named function: equal rows give equal results, wherever the
  /// function runs.
  bool deterministic = false;

  /// The spec of the result's tensors. @pre `!dataset`
  element_spec result() const;
};
using function_ptr = std::shared_ptr<const function>;

std::string_view to_string(dataset_op op) noexcept;

/// The calls of an operator's function that run at the same time.
struct function_calls {
  /// The number of calls. 0: the function runs on the thread that pulls the iterator (except if
  /// `may_spread` is true); -1: the number is chosen while the graph runs.
  int64_t count = 0;
  /// True: the calls keep the order of the rows. Unset: the graph's options decide.
  std::optional<bool> deterministic;
};

/// A source, or an operator with its inputs: immutable and shared. `spec` and `cardinality` are
/// inferred when the node is made, so a node is always well formed (see makers/dataset_makers.hpp,
/// which declares the makers with their checks).
struct dataset_node {
  dataset_op op = dataset_op::range;
  std::vector<dataset_ptr> inputs;
  /// The arguments: constants, or expressions of parameters of enclosing functions.
  std::vector<expr_ptr> tensors;
  function_ptr body;    ///< null: the operator has no function
  function_calls calls; ///< for the function; only map, filter and interleave have concurrent calls
  operator_parameters parameters;
  element_spec spec;
  int64_t cardinality = unknown_cardinality;

  /// The parameters of an operator, if they are of type T. Throws std::bad_variant_access for
  /// others.
  template <class T>
  const T& as() const {
    return std::get<T>(parameters);
  }
  template <class T>
  T& as() {
    return std::get<T>(parameters);
  }
  /// The parameters of an operator, if they are of type T; null for others.
  template <class T>
  const T* find() const noexcept {
    return std::get_if<T>(&parameters);
  }
};

/// The seed that the user set for the operator; unset if the user set none.
optional_seed given_seed(const dataset_node& node);
/// The compression of the files that the operator reads; none if it reads no files.
file_compression compression_of_files(const dataset_node& node);
/// The descriptions of single components in the operator's parameters; empty for most operators.
std::span<const field_format> fields_of(const dataset_node& node);

} // namespace headrace::detail
