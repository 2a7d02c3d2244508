#include "headrace/pipeline/functions/ragged.hpp"

#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <fmt/format.h>

namespace headrace {
using namespace detail;

namespace {

expr nothing_of(dtype type) {
  return expr{make_constant(block::failed_row({tensor_spec{type, {}}}, {}).columns[0]).value()};
}

} // namespace

ragged::ragged(expr_structure parts) : parts_(std::move(parts)) {
  if (!parts_.layout().is_ragged())
    throw error{invalid_argument(fmt::format(
      "ragged: {} is no ragged tensor, as ragged_batch gives", to_string(parts_.spec())))};
}

ragged::ragged(const expr& values, const expr& row_lengths)
  : parts_(structure::ragged(), {values, row_lengths}) {
  if (row_lengths.spec().type != dtype::int64
      || (row_lengths.dims().has_rank() && row_lengths.dims().rank() != 1))
    throw error{
      invalid_argument(fmt::format("ragged: the row lengths are {}; they must be a vector "
                                   "of int64",
                                   to_string(row_lengths.spec())))};
}

const expr& ragged::row_lengths(size_t axis) const {
  if (axis >= axes())
    throw error{invalid_argument(fmt::format("ragged: axis {} of {}; lengths are of axes 0 to {}",
                                             axis, to_string(parts_.spec()), axes() - 1))};
  return parts_.leaves()[axis + 1];
}

expr ragged::row_splits(size_t axis) const {
  return concat({constant(std::vector<int64_t>{0}), cumsum(row_lengths(axis))}, 0);
}

expr ragged::to_tensor(const std::optional<expr>& fill) const {
  auto out = values();
  const auto rest = fill ? *fill : nothing_of(out.type());
  const auto value = rest.is_literal()
                       ? detail::adapt_literal("ragged.to_tensor", rest, out.type()).value()
                       : rest.node();
  for (size_t axis = axes(); axis-- > 0;)
    out = detail::apply(expr_op::ragged_to_tensor, {out.node(), row_lengths(axis).node(), value});
  return out;
}

ragged ragged::with_values(const expr& values) const {
  auto leaves = parts_.leaves();
  leaves[0] = values;
  return ragged{expr_structure{parts_.layout(), std::move(leaves)}};
}

} // namespace headrace
