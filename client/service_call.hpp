#pragma once

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

/// What registers a graph under `id`, or one that the service chooses.
result<envelope> register_request(const dataset_ptr& graph, const std::string& id, id_use use);
/// The dataset id in the answer to that. @pre it is no error
std::string registered_id(const envelope& answer);

} // namespace headrace::service
