#pragma once

#include "headrace/runtime/link/transport_registry.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace headrace {

/// Connects inside the process where somebody listens there under the same address, so that nothing
/// is copied, and through another transport otherwise.
class nearest_transport final : public transport {
public:
  nearest_transport(const std::shared_ptr<transport>& otherwise, uint64_t node_id)
    : otherwise_(otherwise), node_id_(node_id) {}

  /// As the other transport does.
  result<std::string> listen(const std::string& address, link_accepted on_accepted) override;
  void connect(const std::string& address, link_connected done) override;

  /// Where others in this process listen for our connections. The first call makes it, with its
  /// thread.
  std::shared_ptr<local_hub> hub();

private:
  /// Not owned: it must not end on the hub's thread.
  std::weak_ptr<transport> otherwise_;
  const uint64_t node_id_;
  std::mutex mutex_;
  std::shared_ptr<local_hub> hub_;
};

} // namespace headrace
