#pragma once

#include "tests/cluster/processes.hpp"
#include "tests/support/relay.hpp"

#include <memory>
#include <string>

namespace headrace::detail::test {

/// A worker whose data port is reached through a relay only.
struct relayed_worker {
  std::unique_ptr<relay> network = std::make_unique<relay>();
  server_process server;

  explicit relayed_worker(const std::string& dispatcher)
    : server(start_worker(dispatcher,
                          {"--advertise-data", "127.0.0.1:" + std::to_string(network->port())})) {
    network->forward_to(server.port());
  }
};

} // namespace headrace::detail::test
