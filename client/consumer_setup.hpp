#pragma once

#include "headrace/actors/consumer/consumer_options.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::service {

/// How a consumer reads the next repetition that a `distribute` node asks for: counts it. Fails if
/// the node's input, which its question carries, is too large for a message.
result<consumer_options> consumer_options_of(const dataset_node& distribute);

} // namespace headrace::service
