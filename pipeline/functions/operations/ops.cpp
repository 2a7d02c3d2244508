#include "headrace/pipeline/functions/operations/ops.hpp"

#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/moves.hpp"
#include "headrace/pipeline/functions/representation/shapes.hpp"

namespace headrace::detail {

column run_op(const op_call& call) {
  const auto op = call.node.op;
  if (const auto* function = find_library_function(op))
    return function->run(call);
  if (is_reduction(op) || op == expr_op::argmax || op == expr_op::argmin)
    return run_reduction(call);
  if (is_movement(op))
    return run_movement(call);
  switch (op) {
  case expr_op::gather: return run_gather(call);
  case expr_op::shape_of:
  case expr_op::size: return run_shape(call);
  case expr_op::decode_raw: return run_decode_raw(call);
  default: return run_strings(call);
  }
}

} // namespace headrace::detail
