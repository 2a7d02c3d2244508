#pragma once

/// Dispatchers and workers under the supervisor of their node.

#include "headrace/actors/dispatcher/dispatcher_options.hpp"
#include "headrace/actors/node/dispatcher_stores.hpp"
#include "headrace/actors/worker/stream_router.hpp"
#include "headrace/actors/worker/worker_options.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/node/node.hpp"

#include <functional>
#include <memory>

namespace headrace::detail {

/// Called when a role's actor has crashed too often and is not started again.
using role_failed = std::function<void(const status&)>;

/// Starts a dispatcher on a node; it ends with the node. The returned actor is to be published. The
/// dispatcher and its jobs continue with the content of `stores`.
published_actor start_dispatcher(
  node& where, dispatcher_options options, const logger& log, role_failed failed = {},
  const std::shared_ptr<dispatcher_stores>& stores = std::make_shared<dispatcher_stores>());

/// Starts a worker on a node; it ends with the node, or by `stop_role`. `router` serves the links
/// of the node's data port.
caf::actor start_worker(node& where, const worker_options& options, const address& dispatcher,
                        const std::shared_ptr<stream_router>& router, const logger& log,
                        role_failed failed = {});

/// Requests that a role end, and waits until it has ended, for at most `limit`.
void stop_role(node& where, const caf::actor& role, duration limit);

} // namespace headrace::detail
