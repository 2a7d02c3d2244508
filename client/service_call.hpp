#pragma once

#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/client/service_client.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/message/envelope.hpp"

#include <string>

namespace headrace::service {

/// Asks a dispatcher and waits for the answer. Errors name the address, or are the dispatcher's
/// own.
result<envelope> call(const std::string& dispatcher, duration limit, const envelope& what);
/// As above, and waits for a dispatcher that is not there: tries again, with growing pauses. What
/// is asked may reach it more than once.
result<envelope> call(const std::string& dispatcher, const waiting& how, const envelope& what);

/// What registers a graph under an id that the service chooses. Fails if it is too large.
result<dataset_registration> registration_of(const dataset_ptr& graph);

} // namespace headrace::service
