#pragma once

#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/client/internal/service_client.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/message/envelope.hpp"

#include <string>

namespace headrace::detail::service {

/// Sends a request to a dispatcher and waits for the answer. An error names the address, or is the
/// error with which the dispatcher answered.
result<envelope> call(const target& dispatcher, duration limit, const envelope& what);
/// As above, and waits for a dispatcher that cannot be reached: the request is repeated, with
/// growing pauses. It may reach the dispatcher more than once.
result<envelope> call(const target& dispatcher, const waiting& how, const envelope& what);

/// The message that registers a graph under an id which the service chooses. Fails if the message
/// would be too large.
result<dataset_registration> registration_of(const dataset_ptr& graph);

} // namespace headrace::detail::service
