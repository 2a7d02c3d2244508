#pragma once

#include "headrace/actors/consumer/consumer_options.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::service {

/// How a consumer reads the next repetition that a `distribute` node asks for: counts it. The
/// dataset id is empty if the node's input has to be registered first.
consumer_options consumer_options_of(const dataset_node& distribute);

} // namespace headrace::service
