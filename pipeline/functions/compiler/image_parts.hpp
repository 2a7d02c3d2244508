#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"

namespace headrace::detail {

/// Expressions with the same values as `tensors` that decode JPEGs only as far as necessary. If
/// only one slice of a JPEG is used, only the slice is decoded; if only the extents are used, only
/// the header is read. A JPEG that is only resized is resized while it is decoded. The same rows
/// fail, except that damage after the header is not found if only the extents are used. PNGs, and
/// JPEGs whose pixels are not uint8, are decoded as a whole.
std::vector<expr_ptr> with_parts_of_images(const std::vector<expr_ptr>& tensors);

} // namespace headrace::detail
