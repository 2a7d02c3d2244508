#include "headrace/client/internal/local_listener.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace headrace::detail {

/// The accepted links, which the hub's thread adds.
struct local_listener::accepted {
  std::mutex mutex;
  std::vector<std::weak_ptr<link>> links;
  bool over = false;
};

local_listener::local_listener(std::shared_ptr<local_hub> hub, std::string address, uint64_t node,
                               link_accepted on_accepted)
  : hub_(std::move(hub)), address_(std::move(address)), accepted_(std::make_shared<accepted>()) {
  auto how =
    hub_->listen(address_, node, [to = accepted_, on_accepted](const std::shared_ptr<link>& peer) {
      {
        std::lock_guard lock{to->mutex};
        if (to->over)
          return peer->close(unavailable("the listener has ended"));
        std::erase_if(to->links, [](const auto& x) { return x.expired(); });
        to->links.push_back(peer);
      }
      on_accepted(peer);
    });
  if (!how)
    throw error{how};
}

local_listener::~local_listener() {
  hub_->stop_listening(address_);
  std::vector<std::weak_ptr<link>> links;
  {
    std::lock_guard lock{accepted_->mutex};
    accepted_->over = true;
    links = std::exchange(accepted_->links, {});
  }
  for (const auto& x : links)
    if (auto open = x.lock())
      open->close(unavailable("the listener has ended"));
}

} // namespace headrace::detail
