#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/node/address.hpp"
#include "headrace/runtime/node/node.hpp"

#include <string>

namespace headrace {

/// Tells a dispatcher what a worker's node has counted at its data port, again and again once there
/// is something to tell; ends with the node. `data_address`: as the worker registers with it.
void start_node_reports(node& where, const address& dispatcher, std::string data_address,
                        duration every = std::chrono::seconds{1});

} // namespace headrace
