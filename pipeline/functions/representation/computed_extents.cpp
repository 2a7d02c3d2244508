#include "headrace/pipeline/functions/representation/computed_extents.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

shape known_extents(const expr_attrs& attrs) {
  auto dims = attrs.dims;
  std::ranges::replace(dims, computed_extent, shape::unknown);
  return shape{std::move(dims)};
}

std::vector<int64_t> extents_in_row(const op_call& call, size_t row, size_t first) {
  auto dims = call.node.attrs.dims;
  for (auto& dim : dims)
    if (dim == computed_extent)
      dim = integer_at(call.inputs[first++], row);
  return dims;
}

status check_extents(const library_operands& in, size_t first) {
  const auto wanted = static_cast<size_t>(std::ranges::count(in.attrs.dims, computed_extent));
  if (in.size() != first + wanted)
    return invalid_argument(fmt::format("{} operands given; {} needed", in.size(), first + wanted));
  for (size_t i = first; i < in.size(); ++i)
    if (!is_integer(in[i].type) || (in[i].dims.has_rank() && !in[i].dims.is_scalar()))
      return invalid_argument(
        fmt::format("an extent is {}; an integer scalar is needed", to_string(in[i])));
  return {};
}

} // namespace headrace::detail
