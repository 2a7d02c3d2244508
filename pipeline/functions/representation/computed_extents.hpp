#pragma once

#include "headrace/pipeline/functions/representation/library.hpp"

namespace headrace::detail {

/// Stands in `expr_attrs::dims` for an extent that depends on the element.
inline constexpr int64_t computed_extent = -2;

/// `attrs.dims` as a shape in which each computed extent is unknown.
shape known_extents(const expr_attrs& attrs);
/// The extents in row `row`. `first`: the index of the operand that is the first computed extent.
std::vector<int64_t> extents_in_row(const op_call& call, size_t row, size_t first);
/// Ok if the operands from `first` on are integer scalars, one for each computed extent.
status check_extents(const library_operands& in, size_t first);

} // namespace headrace::detail
