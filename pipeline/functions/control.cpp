#include "headrace/pipeline/functions/control.hpp"

#include "headrace/pipeline/functions/literal.hpp"

#include <fmt/format.h>

namespace headrace::detail {

void check_iterations(int64_t maximum_iterations) {
  constexpr int64_t most = 256;
  if (maximum_iterations < 1 || maximum_iterations > most)
    throw error{invalid_argument(fmt::format(
      "while_loop: maximum_iterations is {}; it must be in [1, {}]", maximum_iterations, most))};
}

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
