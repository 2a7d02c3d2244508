#pragma once

#include "headrace/pipeline/functions/operations/image_codec.hpp"
#include "headrace/pipeline/functions/representation/value.hpp"

namespace headrace::detail {

/// Decodes the image of row `r` of a call of `decode_image`, of uint8, as that function does, and
/// passes its lines on one after the other. Its extents are passed to `begin` before, which returns
/// what takes the lines. It is called once more if lines were taken and the image has to be decoded
/// in another way.
status decode_lines(const op_call& call, size_t r,
                    const std::function<line_reader(const image_size&)>& begin);

} // namespace headrace::detail
