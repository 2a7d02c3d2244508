#include "headrace/runtime/node/node_impl.hpp"

#include "headrace/runtime/base/boot_id.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/link/wire/tls_check.hpp"
#include "headrace/runtime/node/connector_actor.hpp"
#include "headrace/runtime/node/node_config.hpp"
#include "headrace/runtime/node/system_visit.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headrace::detail {
namespace {

schema::Role to_schema(node_role x) {
  switch (x) {
  case node_role::unknown: return schema::Role::UNKNOWN;
  case node_role::dispatcher: return schema::Role::DISPATCHER;
  case node_role::worker: return schema::Role::WORKER;
  case node_role::consumer: return schema::Role::CONSUMER;
  case node_role::tool: return schema::Role::TOOL;
  }
  return schema::Role::UNKNOWN;
}

node_options checked(node_options options) {
  auto check = [](const status& fine) {
    if (!fine)
      throw error{fine};
  };
  // The TLS files are checked before the actor system starts, because the framework ends the
  // process if they are invalid.
  check(check_tls(options.tls));
  if (options.lease <= duration::zero())
    check(invalid_argument("lease must be longer than zero, e.g. 5 s"));
  if (options.heartbeat < duration::zero() || options.heartbeat >= options.lease)
    check(invalid_argument("heartbeat must be shorter than the lease, e.g. a quarter of it (0)"));
  check(options.liveness.check());
  if (options.data_threads < 1)
    check(invalid_argument("data_threads must be at least 1"));
  if (!options.advertise_data.empty())
    check(parse_address(options.advertise_data).status().with_context("advertise_data"));
  if (!options.metrics)
    options.metrics = std::make_shared<metric_registry>();
  return options;
}

link_options links_of(const node_options& options, uint64_t id) {
  return {.node_id = id,
          .boot_id = boot_id(),
          .role = std::string{to_string(options.role)},
          .tls = options.tls,
          .liveness = options.liveness,
          .metrics = options.metrics,
          .threads = options.data_threads,
          .on_refused =
            [log = options.log](const std::string& peer, const status& why) {
              log.warn("link refused", {{"peer", peer}, {"why", why}});
            },
          .on_paused =
            [log = options.log](const status& why) {
              log.warn("data port rests", {{"why", why}});
            }};
}

} // namespace

node::impl::impl(node_options given)
  : options(checked(std::move(given))),
    id(random_id()),
    count(*options.metrics),
    links(std::make_shared<link_service>(links_of(options, id))) {
  add_transports();
  configure(system_config, options);
  system_visit inside;
  owned_system = std::make_unique<caf::actor_system>(system_config);
  system = owned_system.get();
  connector = port::spawn<connector_state>(*system, std::ref(*this));
}

node::impl::impl(node_options given, caf::actor_system& lent)
  : options(checked(std::move(given))),
    id(random_id()),
    count(*options.metrics),
    links(std::make_shared<link_service>(links_of(options, id))),
    system(&lent) {
  add_transports();
  system_visit inside;
  connector = port::spawn<connector_state>(*system, std::ref(*this));
}

void node::impl::add_transports() {
  auto sockets = make_link_transport(links);
  auto nearest = std::make_shared<nearest_transport>(sockets, id);
  static_cast<void>(transports.add("link", std::move(sockets)));
  static_cast<void>(transports.add("nearest", std::move(nearest)));
}

node::impl::~impl() {
  probes.drain(); // their threads send messages to actors
  if (ending.empty())
    return;
  // The destructor of a node's own actor system waits for the actors. A system that a program lent
  // to the node continues, so the node itself waits for its actors here.
  system_visit inside;
  caf::scoped_actor self{*system};
  for (auto& whom : ending) self->monitor(whom);
  for (size_t i = 0; i < ending.size(); ++i) self->receive([](const caf::down_msg&) {});
}

hello node::impl::self() const {
  return {.node_id = id,
          .role = to_schema(options.role),
          .boot_id = boot_id(),
          .name = std::string{to_string(options.role)} + " " + std::to_string(::getpid())};
}

std::string node::impl::advertised_host() const {
  if (!options.advertise_host.empty())
    return options.advertise_host;
  if (!is_wildcard(options.host))
    return options.host;
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

void node::impl::adopt(const caf::actor& whom) {
  std::lock_guard guard{mutex};
  std::erase_if(adopted, [](const caf::actor_addr& x) { return !caf::actor_cast<caf::actor>(x); });
  adopted.push_back(whom.address());
}

void node::impl::begin_stop() {
  probes.cancel();
  std::vector<caf::actor_addr> all;
  {
    std::lock_guard guard{mutex};
    all = std::exchange(adopted, {});
  }
  // Actors are ended in reverse order, because an actor may use those that were adopted before it.
  std::vector<caf::actor> asked;
  for (auto i = all.rbegin(); i != all.rend(); ++i)
    if (auto whom = caf::actor_cast<caf::actor>(*i))
      asked.push_back(whom);
  if (connector)
    asked.push_back(caf::actor_cast<caf::actor>(connector));
  connector = nullptr;
  for (auto& whom : asked) port::ask_to_exit(whom);
  if (!owned_system)
    ending = std::move(asked);
}

status check_exposure(const node_options& options, const std::string& what) {
  if (is_loopback(options.host) || options.tls.enabled() || options.insecure)
    return {};
  return failed_precondition(
    "refusing to open " + what + " on " + (options.host.empty() ? "every address" : options.host)
    + ": anybody who reaches it could use it. Give certificates (--tls-cert, --tls-key, "
      "--tls-ca), bind 127.0.0.1, or say --insecure if the network itself is trusted");
}

status why_not_listening(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  auto where = host_and_port(host, port);
  if (::getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints,
                    &found)
      != 0)
    return invalid_argument("cannot listen at " + where
                            + ": no such host; must be an address of this machine");
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard{found, &::freeaddrinfo};
  auto fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  const bool listens = fd >= 0 && ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0
                       && ::bind(fd, found->ai_addr, found->ai_addrlen) == 0
                       && ::listen(fd, 1) == 0;
  const auto failed = listens ? 0 : errno;
  if (fd >= 0)
    ::close(fd);
  if (failed == 0)
    return {};
  if (failed == EADDRINUSE)
    return already_exists(
      "port " + std::to_string(port) + " of " + (host.empty() ? "this machine" : host)
      + " is in use by another process; stop that one, or choose another port (0 "
        "takes a free one)");
  if (failed == EADDRNOTAVAIL)
    return invalid_argument(
      "cannot listen at " + where
      + ": not an address of this machine; 127.0.0.1 or one that `ip address` "
        "shows would be right");
  return {failed == EACCES ? status_code::permission_denied : status_code::failed_precondition,
          "cannot listen at " + where + ": " + std::strerror(failed)};
}

} // namespace headrace::detail
