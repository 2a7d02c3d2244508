#pragma once

#include "headrace/pipeline/functions/compiler/compile.hpp"

namespace headrace::detail {

/// Joins each resize of images with the fused passes over its result into one step, if nothing else
/// reads the images: the step runs over bands of a few lines, which stay in the cache, and the
/// resized images are never in memory as a whole. @pre the steps of `plan` are in order
void join_bands(program::plan& plan);

} // namespace headrace::detail
