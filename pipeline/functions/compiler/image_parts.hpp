#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"

namespace headrace::detail {

/// The same values as `tensors`, where images are decoded only as far as these need them: of an
/// image of which one slice is used, only that is decoded, and for its extents only its header is
/// read. An image that is only resized is resized while it is decoded. Values are the same, and so
/// are failed rows, except that damage after the header is not found if only the extents are used.
std::vector<expr_ptr> with_parts_of_images(const std::vector<expr_ptr>& tensors);

} // namespace headrace::detail
