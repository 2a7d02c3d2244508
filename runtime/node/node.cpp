#include "headrace/runtime/node/node.hpp"

#include "headrace/runtime/node/node_impl.hpp"
#include "headrace/runtime/node/system_visit.hpp"

#include <condition_variable>
#include <thread>
#include <unistd.h>

namespace headrace::detail {

std::string_view to_string(node_role x) noexcept {
  switch (x) {
  case node_role::unknown: return "node";
  case node_role::dispatcher: return "dispatcher";
  case node_role::worker: return "worker";
  case node_role::consumer: return "consumer";
  case node_role::tool: return "tool";
  }
  return "node";
}

node::node(node_options options) : impl_(std::make_shared<impl>(std::move(options))) {}

node::node(std::shared_ptr<impl> made) : impl_(std::move(made)) {}

result<std::unique_ptr<node>> node::make(node_options options) {
  try {
    return std::make_unique<node>(std::move(options));
  } catch (const error& e) {
    return e.why();
  }
}

node::~node() {
  auto budget = impl_->options.stop_budget;
  auto log = impl_->options.log;
  impl_->begin_stop();
  system_visit::leave();
  // The destructor of the actor system waits for every actor without a limit. It is called on
  // another thread, so that an actor that does not end (a defect) cannot keep the process alive.
  struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
  };
  auto state = std::make_shared<shared>();
  std::thread ender{[state, last = std::move(impl_)]() mutable {
    last.reset();
    std::lock_guard guard{state->mutex};
    state->ended = true;
    state->changed.notify_all();
  }};
  std::unique_lock lock{state->mutex};
  if (state->changed.wait_for(lock, budget, [&] { return state->ended; })) {
    lock.unlock();
    ender.join();
    return;
  }
  log.error(
    "actors (or threads that use the actor system) did not end in time and are left behind");
  ender.detach();
}

result<std::shared_ptr<node>> node::process(node_options options) {
  static std::mutex mutex;
  static std::weak_ptr<node> current;
  static pid_t owner = 0;
  std::lock_guard guard{mutex};
  if (auto there = current.lock()) {
    if (owner != ::getpid())
      return failed_precondition(
        "this process was forked from one that uses headrace: its threads did not come along. Fork "
        "before headrace is first used, or start a new program (exec)");
    return there;
  }
  HEADRACE_ASSIGN(auto made, make(std::move(options)));
  std::shared_ptr<node> shared = std::move(made);
  current = shared;
  owner = ::getpid();
  return shared;
}

const node_options& node::options() const noexcept { return impl_->options; }
uint64_t node::id() const noexcept { return impl_->id; }
const logger& node::log() const noexcept { return impl_->options.log; }

std::string node::actor_address() const {
  auto port = actor_port();
  return port == 0 ? std::string{} : host_and_port(impl_->advertised_host(), port);
}

uint16_t node::actor_port() const noexcept {
  std::lock_guard guard{impl_->mutex};
  return impl_->actor_port;
}

status node::listen_data(link_accepted on_accepted) {
  auto& options = impl_->options;
  HEADRACE_TRY(check_exposure(options, "the data port"));
  HEADRACE_ASSIGN(auto port,
                  impl_->links->listen(options.host, options.data_port, std::move(on_accepted)));
  {
    std::lock_guard guard{impl_->mutex};
    impl_->data_port = port;
  }
  options.log.info(
    "listening for data",
    {{"port", port}, {"advertised", data_address()}, {"tls", options.tls.enabled()}});
  return {};
}

std::string node::data_address() const {
  auto port = data_port();
  if (port != 0 && !impl_->options.advertise_data.empty())
    return impl_->options.advertise_data;
  return port == 0 ? std::string{} : host_and_port(impl_->advertised_host(), port);
}

uint16_t node::data_port() const noexcept {
  std::lock_guard guard{impl_->mutex};
  return impl_->data_port;
}

link_service& node::links() noexcept { return *impl_->links; }
transport_registry& node::transports() noexcept { return impl_->transports; }

const std::shared_ptr<metric_registry>& node::metrics() const noexcept {
  return impl_->options.metrics;
}

} // namespace headrace::detail
