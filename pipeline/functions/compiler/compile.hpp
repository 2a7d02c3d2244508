#pragma once

#include "headrace/pipeline/functions/compiler/fused.hpp"
#include "headrace/pipeline/functions/representation/program.hpp"

#include <optional>

namespace headrace::detail {

/// The content of a program: values numbered in the order in which they can be computed, and the
/// steps that compute them.
struct program::plan {
  enum class kind : uint8_t { parameter, capture, constant, op, fused, parse, loop, bands };

  struct item {
    expr_ptr node;
    kind what = kind::op;
    std::vector<size_t> inputs;
    bool uniform = false; ///< one row for all
    /// Bool values that decide whether a row of this value is needed: only if each has the given
    /// value.
    std::vector<std::pair<size_t, bool>> guards;
    detail::value ready; ///< of constants, also folded ones
  };

  struct step {
    kind what = kind::op;
    std::vector<size_t> nodes;                   ///< the items that are computed here, in order
    std::vector<size_t> inputs;                  ///< values of other steps that are read here
    std::vector<std::pair<size_t, bool>> guards; ///< those that all nodes have
    std::optional<detail::fused_pass> pass;
    std::vector<size_t> kept; ///< results of the pass
    bool alike = false;       ///< the inputs' shapes are static: rows' shapes are not compared
    std::vector<detail::fused_pass> single; ///< one pass for each function of the pass
    std::vector<size_t> done;               ///< values that are not read by later steps
    std::shared_ptr<const plan> condition;  ///< of a loop
    std::shared_ptr<const plan> after;      ///< a step of a loop: its variables' next values
    std::vector<step> members;              ///< of bands: a resize, and the passes that follow
  };

  std::vector<item> items;
  std::vector<step> steps;
  std::vector<size_t> results;
  const function_scope* scope = nullptr;
  /// The number of columns of the function's argument. One more holds seeds if there are any (see
  /// row_seeds.hpp); 0: no seeds.
  size_t parameters = 0;
};

} // namespace headrace::detail
