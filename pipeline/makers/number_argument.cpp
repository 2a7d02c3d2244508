#include "headrace/pipeline/makers/number_argument.hpp"

#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"

#include <fmt/format.h>

namespace headrace::detail {

number_argument::number_argument(expr_ptr computed) {
  if (computed && computed->spec == tensor_spec{dtype::int64, {}}) {
    // The value is also known if the expression casts a constant of another integer dtype.
    const auto& given = computed->op == expr_op::cast ? computed->inputs[0] : computed;
    if (const auto* value = constant_of(given); value != nullptr && is_integer(value->type()))
      known_ = integer_at({value}, 0);
  }
  if (!known_)
    computed_ = std::move(computed);
}

status number_argument::check(dataset_op op, std::string_view name) const {
  if (known_)
    return {};
  HEADRACE_TRY(check_expr(op, computed_, name));
  if (computed_->spec != tensor_spec{dtype::int64, {}})
    return refused(
      op, fmt::format("{} is {}; it must be an int64 scalar", name, to_string(computed_->spec)));
  return {};
}

void number_argument::put_into(dataset_node& node) const {
  if (computed_)
    node.tensors.push_back(computed_);
}

} // namespace headrace::detail
