#pragma once

#include "headrace/pipeline/functions/fused.hpp"
#include "headrace/pipeline/functions/program.hpp"

#include <optional>

namespace headrace {

/// What a program runs: values numbered in the order in which they can be computed, and the steps
/// that compute them.
struct program::plan {
  enum class kind : uint8_t { parameter, capture, constant, op, fused, parse };

  struct item {
    expr_ptr node;
    kind what = kind::op;
    std::vector<size_t> inputs;
    bool uniform = false; ///< one row for all
    /// Bools that decide whether a row of this value is used at all: only where each is as said.
    std::vector<std::pair<size_t, bool>> guards;
    detail::value ready; ///< constants, also folded ones
  };

  struct step {
    kind what = kind::op;
    std::vector<size_t> nodes;                   ///< computed here, in order
    std::vector<size_t> inputs;                  ///< values read here, of other steps
    std::vector<std::pair<size_t, bool>> guards; ///< of all nodes
    std::optional<detail::fused_pass> pass;
    std::vector<size_t> kept;               ///< results of the pass
    bool alike = false;                     ///< static shapes: the pass needs no look at the rows
    std::vector<detail::fused_pass> single; ///< each function of a pass as a pass of its own
    std::vector<size_t> done;               ///< values that nobody reads afterwards
  };

  std::vector<item> items;
  std::vector<step> steps;
  std::vector<size_t> results;
  const function_scope* scope = nullptr;
  /// Columns of the function's argument; one more holds seeds (see row_seeds.hpp). 0: no seeds.
  size_t parameters = 0;
};

} // namespace headrace
