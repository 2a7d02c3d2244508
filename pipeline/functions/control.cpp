#include "headrace/pipeline/functions/control.hpp"

#include "headrace/pipeline/functions/literal.hpp"

#include <fmt/format.h>

namespace headrace::detail {

expr_structure make_cond(const expr& condition, const expr_structure& x, const expr_structure& y) {
  if (x.layout() != y.layout())
    throw error{invalid_argument(fmt::format("cond: the branches are {} and {}; they must have "
                                             "one structure",
                                             to_string(x.spec()), to_string(y.spec())))};
  std::vector<expr> leaves;
  for (size_t i = 0; i < x.leaves().size(); ++i) {
    auto branches = same_type("cond", {x.leaves()[i], y.leaves()[i]});
    leaves.push_back(apply(expr_op::cond, {condition.node(), branches[0], branches[1]}));
  }
  return {x.layout(), std::move(leaves)};
}

} // namespace headrace::detail
