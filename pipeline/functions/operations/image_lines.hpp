#pragma once

#include "headrace/pipeline/functions/operations/image_codec.hpp"
#include "headrace/pipeline/functions/representation/value.hpp"

namespace headrace::detail {

/// Decodes the image of row `r` of a call of `decode_image`, or the part of it that the call
/// requests, and passes its lines one after the other to a reader. `begin` returns this reader for
/// the extents of the decoded image or part. If decoding fails, and the image is decoded once more
/// as a whole, `begin` is called again and all lines are passed to the new reader.
status decode_lines(const op_call& call, size_t r,
                    const std::function<line_reader(const image_size&)>& begin);

} // namespace headrace::detail
