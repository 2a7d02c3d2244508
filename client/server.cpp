#include "headrace/client/server.hpp"

#include "headrace/actors/node/roles.hpp"
#include "headrace/actors/protocol/local_reads.hpp"
#include "headrace/client/internal/default_cache_bytes.hpp"
#include "headrace/client/internal/local_listener.hpp"
#include "headrace/client/internal/metrics_access.hpp"
#include "headrace/client/internal/other_services.hpp"
#include "headrace/client/internal/server_timing.hpp"
#include "headrace/client/internal/service_client.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/client/internal/service_source.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/base/descriptors.hpp"
#include "headrace/runtime/base/process_place.hpp"
#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/system_visit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace headrace {
using namespace detail;

namespace {

node_options node_options_of(const endpoint_options& from, node_role role, duration lease,
                             const logger& log) {
  auto out = service_node(role, from.tls);
  out.host = from.host;
  out.actor_port = from.port;
  out.data_port = from.data_port;
  out.advertise_host = from.advertise_host;
  out.advertise_data = from.advertise_data;
  out.insecure = from.insecure;
  out.liveness = from.liveness.value_or(liveness_for(lease));
  out.lease = lease;
  out.log = log;
  return out;
}

node_options options_of_worker(const worker_server_options& from) {
  if (from.lease <= duration::zero())
    throw error{invalid_argument("a worker's lease must be longer than nothing")};
  // The lease of the node is fixed: the worker's lease applies to data links, and must not
  // determine how soon the loss of the dispatcher is detected.
  auto out = node_options_of(from.endpoint, node_role::worker, std::chrono::seconds{5}, from.log);
  out.liveness = from.endpoint.liveness.value_or(liveness_for(from.lease));
  return out;
}

} // namespace

// -- dispatcher -----------------------------------------------------------------

namespace {

node_options options_of_dispatcher(const dispatcher_server_options& from,
                                   std::shared_ptr<metric_registry> metrics) {
  auto out = node_options_of(from.endpoint, node_role::dispatcher, from.lease, from.log);
  out.metrics = std::move(metrics);
  return out;
}

} // namespace

struct dispatcher_server::impl {
  duration heartbeat;
  std::shared_ptr<metric_registry> metrics = std::make_shared<metric_registry>();
  std::shared_ptr<dispatcher_stores> stores;
  node here;
  std::string target;
  published_actor role;

  /// The actors end first, so that their last facts are stored.
  ~impl() {
    if (role)
      stop_role(here, caf::actor_cast<caf::actor>(role), std::chrono::seconds{1});
    stores->close();
  }
  explicit impl(const dispatcher_server_options& from)
    : heartbeat(heartbeat_for(from.heartbeat, from.lease, from.jobs)),
      stores(from.work_dir.empty()
               ? std::make_shared<dispatcher_stores>()
               : dispatcher_stores::open(from.work_dir, from.log, metrics).value()),
      here(options_of_dispatcher(from, metrics)) {
    raise_descriptor_limit();
    dispatcher_options options;
    options.timing = {heartbeat, from.lease};
    options.jobs = from.jobs;
    options.past = from.past;
    options.metrics = metrics;
    options.work_dir = from.work_dir;
    options.roster = worker_roster::of(from.worker_addresses).value();
    options.deployment = from.deployment;
    options.saves_a_worker = std::max<size_t>(1, from.worker_max_concurrent_saves);
    role = start_dispatcher(here, options, from.log, from.on_failed, stores);
    if (auto published = listen(here, role); !published)
      throw error{published.status()};
    target = here.actor_address();
  }
};

dispatcher_server::dispatcher_server(dispatcher_server_options options)
  : impl_(std::make_unique<impl>(options)) {}
dispatcher_server::dispatcher_server(dispatcher_server&&) noexcept = default;
dispatcher_server::~dispatcher_server() = default;
const std::string& dispatcher_server::target() const noexcept { return impl_->target; }
uint16_t dispatcher_server::port() const noexcept { return impl_->here.actor_port(); }

// -- worker -----------------------------------------------------------------------

struct worker_server::impl {
  // Declared before the node, so that it is destroyed after the node's actors, whose tasks use it
  // to read from other services.
  std::shared_ptr<other_services> others;
  node here;
  std::shared_ptr<stream_router> router = std::make_shared<stream_router>();
  std::string data;
  std::optional<local_listener> local;
  caf::actor role;
  worker_options options;

  // The worker leaves the service before the members are destroyed, because it needs the links of
  // the node in order to leave.
  ~impl() { leave(); }
  void leave() {
    if (role)
      stop_role(here, role, options.drain + std::chrono::seconds{1});
  }
  void end_at_once() {
    options.at_once->store(true);
    if (role)
      port::ask_to_exit(role);
  }
  explicit impl(const worker_server_options& from)
    : others(std::make_shared<other_services>(from.endpoint.tls)), here(options_of_worker(from)) {
    const auto dispatcher = service::named(from.dispatcher, "dispatcher").value();
    auto where = parse_address(dispatcher);
    if (!where)
      throw error{where.status().with_context("dispatcher")};
    if (from.heartbeat && *from.heartbeat <= duration::zero())
      throw error{invalid_argument("a worker's heartbeat must be longer than nothing, or unset")};
    if (from.dispatcher_timeout && *from.dispatcher_timeout <= duration::zero())
      throw error{
        invalid_argument("a worker's dispatcher_timeout must be longer than nothing, or unset")};
    if (is_colocated(from.tags) && !from.serves_own_process)
      throw error{invalid_argument(
        "a worker that is tagged COLOCATED serves only trainers of its own process, and this one "
        "would serve none: leave the tag out, or start the worker in a trainer's process "
        "(`worker_server` with `serves_own_process`, `WorkerServer` in Python)")};
    raise_descriptor_limit();
    if (auto how =
          here.listen_data([router = router](std::shared_ptr<link> peer) { router->serve(peer); });
        !how)
      throw error{how};
    data = here.data_address();
    if (from.serves_own_process)
      local.emplace(local_hub::of_process(), data, here.id(),
                    [router = router](std::shared_ptr<link> peer) { router->serve(peer); });
    options.dispatcher = dispatcher;
    options.data_address = data;
    options.past = from.past;
    options.metrics = here.metrics();
    options.tags = from.tags;
    if (from.serves_own_process)
      options.place = process_place();
    options.tasks.find_function = from.find_function;
    options.tasks.open_distribute =
      [others = others](const dataset_node& node,
                        std::stop_token stop) -> result<std::unique_ptr<element_source>> {
      HEADRACE_ASSIGN(auto session, others->session());
      HEADRACE_ASSIGN(auto out, service_source::open(node, std::move(stop), {}, session));
      return std::unique_ptr<element_source>{std::move(out)};
    };
    options.tasks.cache_bytes =
      from.cross_trainer_cache_size != 0 ? from.cross_trainer_cache_size : default_cache_bytes(1);
    if (from.save_max_file_size != 0)
      options.most_save_file_bytes = from.save_max_file_size;
    options.most_stuck = from.most_stuck_threads;
    options.on_stuck = from.on_failed;
    options.on_other_version = from.on_other_version;
    options.on_not_listed = from.on_not_listed;
    options.drain = from.drain;
    options.heartbeat = from.heartbeat;
    options.dispatcher_timeout = from.dispatcher_timeout;
    options.on_dispatcher_timeout = from.on_failed;
    options.on_left = from.on_left;
    role = start_worker(here, options, *where, router, from.log, from.on_failed);
  }
};

worker_server::worker_server(worker_server_options options)
  : impl_(std::make_unique<impl>(options)) {}
worker_server::worker_server(worker_server&&) noexcept = default;
worker_server::~worker_server() = default;
const std::string& worker_server::address() const noexcept { return impl_->data; }
uint16_t worker_server::data_port() const noexcept { return impl_->here.data_port(); }
std::vector<metric_sample> worker_server::metrics() const { return impl_->here.metrics()->read(); }
const metric_registry& metrics_access::registry_of(const worker_server& of) noexcept {
  return *of.impl_->here.metrics();
}
void worker_server::leave() { impl_->leave(); }
void worker_server::end_at_once() noexcept { impl_->end_at_once(); }

// -- dispatcher and workers in one process ------------------------------------------

local_cluster::local_cluster(local_cluster_options options) : options_(std::move(options)) {
  if (options_.workers < 0)
    throw error{invalid_argument(
      fmt::format("local_cluster: workers is {}; it must be 0 or more", options_.workers))};
  here_ = service::node_with(options_.endpoint.tls).value();
  dispatcher_server_options about;
  about.endpoint = options_.endpoint;
  about.heartbeat = options_.heartbeat;
  about.lease = options_.lease;
  about.jobs = options_.jobs;
  about.work_dir = options_.work_dir;
  about.worker_addresses = options_.worker_addresses;
  about.deployment = options_.deployment;
  about.worker_max_concurrent_saves = options_.worker_max_concurrent_saves;
  about.on_failed = options_.on_failed;
  about.past = options_.past;
  about.log = options_.log;
  dispatcher_ = std::make_unique<dispatcher_server>(about);
  // The workers do not use the advertised address, because it may not be reachable from this host,
  // for instance with address translation.
  inside_ = host_and_port(host_from_here(options_.endpoint.host), dispatcher_->port());
  for (int i = 0; i < options_.workers; ++i) add_worker();
  await_workers(workers_.size());
}

local_cluster::~local_cluster() { end_at_once(); }

void local_cluster::end_at_once() noexcept {
  std::lock_guard lock{mutex_};
  ends_ = true;
  for (const auto* all : {&workers_, &leaving_})
    for (const auto& worker : *all)
      if (worker)
        worker->end_at_once();
}

void local_cluster::add_worker() {
  std::lock_guard lock{mutex_};
  if (ends_)
    return;
  worker_server_options about;
  about.dispatcher = inside_;
  about.endpoint = options_.endpoint;
  about.lease = options_.lease;
  about.endpoint.data_port =
    workers_.size() < options_.data_ports.size() ? options_.data_ports[workers_.size()] : 0;
  about.find_function = options_.find_function;
  about.most_stuck_threads = options_.most_stuck_threads;
  about.save_max_file_size = options_.save_max_file_size;
  about.drain = options_.drain;
  about.cross_trainer_cache_size = options_.cross_trainer_cache_size;
  const auto running =
    static_cast<int>(std::ssize(workers_) - std::ranges::count(workers_, nullptr));
  if (about.cross_trainer_cache_size == 0)
    about.cross_trainer_cache_size = default_cache_bytes(std::max(options_.workers, running + 1));
  about.dispatcher_timeout.reset(); // no limit: dispatcher and workers end together
  about.on_failed = about.on_not_listed = options_.on_failed;
  about.past = options_.past;
  about.serves_own_process = true;
  about.tags = options_.tags;
  about.log = options_.log;
  workers_.push_back(std::make_shared<worker_server>(about));
}

std::vector<uint16_t> local_cluster::ports() const {
  std::vector<uint16_t> out{dispatcher_->port()};
  std::lock_guard lock{mutex_};
  for (const auto& worker : workers_) out.push_back(worker ? worker->data_port() : 0);
  return out;
}

void local_cluster::stop_worker(size_t index) {
  std::shared_ptr<worker_server> worker;
  {
    std::lock_guard lock{mutex_};
    worker = std::exchange(workers_.at(index), {});
    if (!worker)
      return;
    leaving_.push_back(worker);
  }
  worker->leave();
  std::lock_guard lock{mutex_};
  std::erase(leaving_, worker);
}

void local_cluster::await_workers(size_t count, duration limit) {
  if (auto how = await_service_workers(inside_, count, limit); !how)
    throw error{how};
}

} // namespace headrace
