#pragma once

#include "headrace/pipeline/functions/compiler/compile.hpp"

namespace headrace::detail {

/// Joins each resize of images with the fused passes over the resized images into one step, if no
/// other step reads the resized images and they are no result of the function. The step runs over
/// bands of a few lines, which stay in the cache, so that a resized image is never in memory as a
/// whole. @pre the steps of `plan` are in the order in which they run
void join_bands(program::plan& plan);

} // namespace headrace::detail
