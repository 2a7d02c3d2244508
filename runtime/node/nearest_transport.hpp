#pragma once

#include "headrace/runtime/link/transport_registry.hpp"

#include <memory>
#include <string>

namespace headrace::detail {

/// Connects inside this process, so that nothing is copied, if a node of the process accepts links
/// under the address (`local_hub::of_process` knows these nodes); otherwise by another transport.
class nearest_transport final : public transport {
public:
  nearest_transport(const std::shared_ptr<transport>& otherwise, uint64_t node_id)
    : otherwise_(otherwise), node_id_(node_id) {}

  /// Listens through the other transport.
  result<std::string> listen(const std::string& address, link_accepted on_accepted) override;
  void connect(const std::string& address, link_connected done) override;

private:
  /// The pointer is weak: the hub's thread has copies of it, and must not destroy the transport.
  std::weak_ptr<transport> otherwise_;
  const uint64_t node_id_;
};

} // namespace headrace::detail
