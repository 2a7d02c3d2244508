#pragma once

#include "headrace/pipeline/functions/operations/image_codec.hpp"
#include "headrace/pipeline/functions/representation/value.hpp"

namespace headrace::detail {

/// Decodes the image of row `r` of a call of `decode_image`, or the part of it, as that function
/// does, and passes its lines on one after the other. Before that its extents are passed to
/// `begin`, which returns the reader of the lines. If the image then has to be decoded in another
/// way, `begin` is called again, and all lines are passed to the new reader.
status decode_lines(const op_call& call, size_t r,
                    const std::function<line_reader(const image_size&)>& begin);

} // namespace headrace::detail
