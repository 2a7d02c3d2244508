#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/runtime/link/link.hpp"
#include "headrace/runtime/link/transport_registry.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::detail {

/// The links of a trainer's node to workers. There is one for each address, shared by all consumers
/// of the node; each stream has a channel of its own. Thread-safe.
class link_pool : public std::enable_shared_from_this<link_pool> {
public:
  /// The node owns `way`. The pool does not, because a link's handler may hold the last reference
  /// to the pool, and the threads of a transport must not be ended on one of these threads. `node`:
  /// the number of this node in the hello of its links. `place`: the place of the process, if `way`
  /// reaches the workers there without sockets.
  explicit link_pool(const std::shared_ptr<transport>& way, uint64_t node = 0, uint64_t place = 0)
    : way_(way), node_(node), place_(place) {}

  uint64_t node() const noexcept { return node_; }
  uint64_t place() const noexcept { return place_; }

  /// Makes a link to `address` if there is none; the consumer is sent `link_made`.
  void want(const std::string& address, const consumer_handle& who);
  /// Opens a channel of `on` for one stream of the consumer `who`, to which the messages of the
  /// channel are sent as `block_arrived` and `link_lost`. Returns 0 if the link is closed already.
  uint32_t open_channel(const std::shared_ptr<link>& on, const consumer_handle& who);
  void close_channel(const link* on, uint32_t channel);

private:
  struct entry {
    std::shared_ptr<link> made; ///< null while connecting
    std::vector<consumer_handle> waiting;
  };
  void connected(const std::string& address, result<std::shared_ptr<link>> outcome);
  void arrived(const std::shared_ptr<link>& from, link_message what);
  void closed(const std::shared_ptr<link>& from, const status& why);

  std::weak_ptr<transport> way_;
  const uint64_t node_;
  const uint64_t place_;
  std::mutex mutex_;
  std::map<std::string, entry> links_;
  std::map<std::pair<const link*, uint32_t>, consumer_handle> channels_;
  uint32_t last_channel_ = 0;
};

} // namespace headrace::detail
