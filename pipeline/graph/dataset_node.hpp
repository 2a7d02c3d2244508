#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/pipeline/graph/operator_list.hpp"
#include "headrace/pipeline/graph/operator_parameters.hpp"

#include <memory>
#include <optional>
#include <span>

namespace headrace {

struct dataset_node;
using dataset_ptr = std::shared_ptr<const dataset_node>;

/// A traced function: parameters (one a component of `argument`) and a result that is tensors or a
/// dataset.
struct function {
  std::shared_ptr<const function_scope> scope;
  element_spec argument;
  /// Result arranged as `layout`, one expression a leaf; empty if the result is a dataset.
  structure layout;
  std::vector<expr_ptr> tensors;
  dataset_ptr dataset; ///< or null
  /// A function that is not part of the graph, instead of a traced body; then `declared` is its
  /// result.
  function_reference named;
  element_spec declared;
  /// The user's word for a named function: equal rows give equal results, wherever it runs.
  bool deterministic = false;

  /// The spec of the result's tensors. @pre `!dataset`
  element_spec result() const;
};
using function_ptr = std::shared_ptr<const function>;

std::string_view to_string(dataset_op op) noexcept;

/// Calls of an operator's function that run at the same time.
struct function_calls {
  int64_t count = 0; ///< 0: in the caller; -1: as many as is chosen when it runs
  /// Do they keep the order? Unset: as the graph's options say.
  std::optional<bool> deterministic;
};

/// An operator with its inputs: immutable, shared. `spec` and `cardinality` are inferred when it is
/// made, so a node that exists is well formed (see graph/build.hpp, which holds the checks).
struct dataset_node {
  dataset_op op = dataset_op::range;
  std::vector<dataset_ptr> inputs;
  /// Arguments: constants, or of parameters of enclosing functions.
  std::vector<expr_ptr> tensors;
  function_ptr body;    ///< null: the operator has no function
  function_calls calls; ///< of the function; only map, filter and interleave have any
  operator_parameters parameters;
  element_spec spec;
  int64_t cardinality = unknown_cardinality;

  /// The parameters of an operator that has such. Throws std::bad_variant_access for others.
  template <class T>
  const T& as() const {
    return std::get<T>(parameters);
  }
  template <class T>
  T& as() {
    return std::get<T>(parameters);
  }
  /// Null for an operator that has others.
  template <class T>
  const T* find() const noexcept {
    return std::get_if<T>(&parameters);
  }
};

/// The seed that the user gave the operator; unset for one that takes none.
optional_seed given_seed(const dataset_node& node);
/// How the files that it reads are compressed; none if it reads no files.
file_compression compression_of_files(const dataset_node& node);
/// The components that its parameters describe one by one; none for most operators.
std::span<const field_format> fields_of(const dataset_node& node);

} // namespace headrace
