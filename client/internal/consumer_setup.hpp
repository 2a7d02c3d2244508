#pragma once

#include "headrace/actors/consumer/consumer_options.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::service {

/// Options for a consumer that reads the next repetition of a `distribute` node's job; each call
/// uses up one repetition. Fails if the graph that the consumer sends is too large for a message.
result<consumer_options> consumer_options_of(const dataset_node& distribute);

} // namespace headrace::detail::service
