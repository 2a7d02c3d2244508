#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/link/link.hpp"
#include "headrace/runtime/link/transport_registry.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace headrace::detail {

/// The links of a trainer's node to workers. Each stream has a channel of its own on one of them.
///
/// Consumers that read from the same worker at the same time get links of their own, because the
/// blocks of several streams would wait for each other in the queue of one link. If an address has
/// `most_links` links, further consumers share them. Links that no consumer uses any more are kept
/// for later consumers. A link that was unused for `kept_unused` is closed at a later call of the
/// pool, unless it is the only link to its address. Thread-safe.
class link_pool : public std::enable_shared_from_this<link_pool> {
public:
  /// The most links to one address.
  static constexpr size_t most_links = 8;
  /// The least time for which an unused link is kept. Its last messages are sent in that time.
  static constexpr duration kept_unused = std::chrono::seconds{10};

  /// The node owns the transport `way`, and the pool does not. A transport must not be destroyed on
  /// one of its own threads, and the last reference to the pool may be held by a link's handler,
  /// which runs on such a thread. `node`: the id of this node (`nodeId` in LinkHello). `place`: the
  /// place of the process, if `way` reaches the workers there without sockets.
  explicit link_pool(
    const std::shared_ptr<transport>& way, uint64_t node = 0, uint64_t place = 0,
    std::function<time_point()> now = [] { return clock::system().now(); })
    : way_(way), node_(node), place_(place), now_(std::move(now)) {}
  link_pool(const link_pool&) = delete;
  /// Closes the links inside this process. Links over sockets need not be closed here: they keep
  /// the pool alive until the node ends, and end with the node.
  ~link_pool();

  uint64_t node() const noexcept { return node_; }
  uint64_t place() const noexcept { return place_; }

  /// Finds or makes a link to `address`; the consumer is sent `link_made`.
  void want(const std::string& address, const consumer_handle& who);
  /// Receives the events of a channel, on the thread of its link.
  struct receiver {
    std::function<void(const link& from, link_message what)> on_message;
    /// The link is closed. This is the last event.
    std::function<void(const link& from, uint32_t channel, const status& why)> on_closed;
  };
  /// Opens a channel of `on` for one stream of the consumer `who`. Returns 0 if the link is closed
  /// already.
  uint32_t open_channel(const std::shared_ptr<link>& on, const consumer_handle& who,
                        receiver events);
  void close_channel(const link* on, uint32_t channel);
  /// The consumer has ended: it opens no more channels.
  void forget(const consumer_handle& who);

private:
  struct channel {
    consumer_handle who;
    std::shared_ptr<const receiver> events;
  };
  /// A link with the consumers that use it.
  struct line {
    std::string address;
    std::shared_ptr<link> made; ///< null while connecting
    std::vector<consumer_handle> waiting;
    /// Consumers that were sent `link_made` and have not opened a channel yet.
    std::vector<consumer_handle> promised;
    std::map<uint32_t, channel> channels;
    time_point unused_since{}; ///< meaningful only if there are no users

    size_t users() const { return waiting.size() + promised.size() + channels.size(); }
    bool is_used_by(const consumer_handle& who) const;
  };
  /// The line on which the consumer is to read from `address`; null: a new one is to be made. @pre
  /// the mutex is locked
  std::shared_ptr<line> line_for(const std::string& address, const consumer_handle& who) const;
  /// Removes lines that were not used for a while, and returns their links, which `close` closes
  /// when the mutex is unlocked. @pre the mutex is locked
  std::vector<std::shared_ptr<link>> take_unused();
  static void close(const std::vector<std::shared_ptr<link>>& unused);
  void connected(const std::shared_ptr<line>& on, result<std::shared_ptr<link>> outcome);
  void arrived(const link& from, link_message what);
  void closed(const std::shared_ptr<link>& from, const status& why);

  std::weak_ptr<transport> way_;
  const uint64_t node_;
  const uint64_t place_;
  const std::function<time_point()> now_;
  std::mutex mutex_;
  std::multimap<std::string, std::shared_ptr<line>> lines_; ///< by address
  std::map<const link*, std::shared_ptr<line>> made_;       ///< the lines that have a link
  uint32_t last_channel_ = 0;
};

} // namespace headrace::detail
