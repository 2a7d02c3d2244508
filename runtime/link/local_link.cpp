#include "headrace/runtime/link/local_link.hpp"

#include "headrace/runtime/base/boot_id.hpp"
#include "headrace/runtime/link/task_thread.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unistd.h>

namespace headrace::detail {

namespace {

/// One end of a link inside the process. Received messages are in its inbox until the hub's thread
/// passes them to the handlers.
class local_link final : public link, public std::enable_shared_from_this<local_link> {
public:
  local_link(std::shared_ptr<task_thread> thread, uint64_t peer_node)
    : thread_(std::move(thread)), peer_node_(peer_node) {}

  static std::pair<std::shared_ptr<local_link>, std::shared_ptr<local_link>>
  pair(const std::shared_ptr<task_thread>& thread, uint64_t first, uint64_t second) {
    auto a = std::make_shared<local_link>(thread, second);
    auto b = std::make_shared<local_link>(thread, first);
    a->peer_ = b;
    b->peer_ = a;
    return {a, b};
  }

  bool send(link_message message) override {
    if (!limits().check(message))
      return false;
    auto size = message.byte_size();
    std::shared_ptr<local_link> to;
    {
      std::lock_guard hold{mutex_};
      if (closed_)
        return false;
      to = peer_;
      queued_.fetch_add(size, std::memory_order_relaxed);
    }
    return to->receive(std::move(message));
  }

  bool in_process() const noexcept override { return true; }

  const link_limits& limits() const noexcept override {
    static constexpr link_limits all;
    return all;
  }

  size_t queued_bytes() const override { return queued_.load(std::memory_order_relaxed); }

  void close(status why) override {
    std::shared_ptr<local_link> peer;
    {
      std::lock_guard hold{mutex_};
      if (std::exchange(closed_, true))
        return;
      peer = std::move(peer_);
      // Messages that were not passed on yet are dropped.
      inbox_.clear();
      why_ = std::move(why);
      schedule();
    }
    if (peer)
      peer->peer_closed();
  }

  void set_handlers(link_handlers handlers) override {
    auto shared = std::make_shared<link_handlers>(std::move(handlers));
    auto posted = thread_->post([self = shared_from_this(), shared] {
      if (self->told_)
        return;
      self->handlers_ = std::move(*shared);
      self->run();
    });
    if (!posted && shared->on_closed)
      shared->on_closed(cancelled("the local hub has stopped"));
  }

  const std::string& peer_address() const override {
    static const std::string name = "this process";
    return name;
  }
  uint64_t peer_node() const override { return peer_node_; }
  const std::string& peer_boot_id() const override { return boot_id(); }
  const std::string& peer_role() const override {
    static const std::string none;
    return none;
  }

private:
  bool receive(link_message message) {
    std::lock_guard hold{mutex_};
    if (closed_)
      return false;
    inbox_.push_back(std::move(message));
    schedule();
    return true;
  }

  void peer_closed() {
    std::lock_guard hold{mutex_};
    if (std::exchange(closed_, true))
      return;
    peer_.reset();
    why_ = unavailable("the peer closed the link");
    schedule();
  }

  // To be called with mutex_ held.
  void schedule() {
    if (!std::exchange(scheduled_, true))
      thread_->post([self = shared_from_this()] { self->run(); });
  }

  // Runs on the hub's thread.
  void run() {
    if (!handlers_) {
      std::lock_guard hold{mutex_};
      scheduled_ = false;
      return; // `set_handlers` calls `run` again
    }
    for (;;) {
      std::vector<link_message> arrived;
      std::shared_ptr<local_link> from;
      auto over = false;
      {
        std::lock_guard hold{mutex_};
        arrived.swap(inbox_);
        from = peer_;
        over = arrived.empty() && closed_;
        if (arrived.empty())
          scheduled_ = false;
      }
      if (over && !std::exchange(told_, true)) {
        auto last = std::exchange(*handlers_, {});
        queued_.store(0, std::memory_order_relaxed);
        if (last.on_closed)
          last.on_closed(why_);
      }
      if (arrived.empty())
        return;
      size_t bytes = 0;
      for (auto& x : arrived) {
        bytes += x.byte_size();
        if (handlers_->on_message)
          handlers_->on_message(std::move(x));
      }
      if (from)
        from->delivered(bytes);
    }
  }

  // Called on the hub's thread when `bytes` bytes that this end had sent were passed to the peer's
  // handler.
  void delivered(size_t bytes) {
    if (told_ || bytes == 0)
      return;
    if (queued_.fetch_sub(bytes, std::memory_order_relaxed) == bytes && handlers_
        && handlers_->on_drained)
      handlers_->on_drained();
  }

  const std::shared_ptr<task_thread> thread_;
  const uint64_t peer_node_;
  std::atomic<size_t> queued_{0};

  std::mutex mutex_;
  std::shared_ptr<local_link> peer_; // null when the link is closed
  std::vector<link_message> inbox_;
  bool scheduled_ = false;
  bool closed_ = false;
  status why_;

  // The following members are used by the hub's thread only.
  std::optional<link_handlers> handlers_;
  bool told_ = false;
};

} // namespace

class local_hub::impl {
public:
  struct acceptor {
    uint64_t node;
    link_accepted on_accepted;
  };

  auto pair(uint64_t first, uint64_t second) {
    auto ends = local_link::pair(thread, first, second);
    std::lock_guard hold{mutex};
    std::erase_if(links, [](const auto& x) { return x.expired(); });
    links.push_back(ends.first);
    return ends;
  }

  std::shared_ptr<task_thread> thread = std::make_shared<task_thread>();
  std::mutex mutex;
  std::map<std::string, acceptor> acceptors;
  std::vector<std::weak_ptr<local_link>> links;
};

namespace {

/// The hub that the servers of this process share, and the id of the process that made the hub. A
/// forked child has another process id, and does not use the hub, because the hub's thread does not
/// exist in the child.
struct hub_of_process {
  std::mutex mutex;
  std::weak_ptr<local_hub> hub;
  pid_t owner = 0;
};
hub_of_process& known_hub() {
  static hub_of_process the;
  return the;
}

} // namespace

std::shared_ptr<local_hub> local_hub::of_process() {
  auto& known = known_hub();
  std::lock_guard lock{known.mutex};
  auto hub = known.owner == ::getpid() ? known.hub.lock() : nullptr;
  if (!hub) {
    hub = std::make_shared<local_hub>();
    known.hub = hub;
    known.owner = ::getpid();
  }
  return hub;
}

std::shared_ptr<local_hub> local_hub::present() {
  auto& known = known_hub();
  std::lock_guard lock{known.mutex};
  return known.owner == ::getpid() ? known.hub.lock() : nullptr;
}

local_hub::local_hub() : impl_(std::make_shared<impl>()) {}

local_hub::~local_hub() {
  std::vector<std::weak_ptr<local_link>> all;
  {
    std::lock_guard hold{impl_->mutex};
    impl_->acceptors.clear();
    all = impl_->links;
  }
  for (const auto& x : all)
    if (auto strong = x.lock())
      strong->close(cancelled("the local hub has stopped"));
  impl_->thread->end();
}

status local_hub::listen(const std::string& name, uint64_t node, link_accepted on_accepted) {
  std::lock_guard hold{impl_->mutex};
  if (!impl_->acceptors.try_emplace(name, impl::acceptor{node, std::move(on_accepted)}).second)
    return already_exists("the local name '" + name + "' is taken");
  return {};
}

void local_hub::stop_listening(const std::string& name) {
  std::lock_guard hold{impl_->mutex};
  impl_->acceptors.erase(name);
}

void local_hub::connect(const std::string& name, uint64_t node, link_connected done) {
  auto shared = std::make_shared<link_connected>(std::move(done));
  auto posted = impl_->thread->post([hub = impl_, name, node, shared] {
    std::optional<impl::acceptor> found;
    {
      std::lock_guard hold{hub->mutex};
      if (auto i = hub->acceptors.find(name); i != hub->acceptors.end())
        found = i->second;
    }
    if (!found)
      return (*shared)(
        unavailable("nobody in this process listens on the local name '" + name + "'"));
    auto [ours, theirs] = hub->pair(node, found->node);
    found->on_accepted(std::shared_ptr<link>{theirs});
    (*shared)(std::shared_ptr<link>{ours});
  });
  if (!posted)
    (*shared)(cancelled("the local hub has stopped"));
}

} // namespace headrace::detail
