#include "headrace/client/command/servers/isolated.hpp"
#include "headrace/client/command/servers/scaling.hpp"
#include "headrace/client/command/settings/server_flags.hpp"
#include "headrace/client/command/settings/setting_flags.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/client/internal/default_cache_bytes.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <cstdio>

namespace headrace::detail::command {
namespace {

local_cluster_options options_of(const server_settings& from) {
  local_cluster_options out;
  out.workers = from.workers.least;
  // When the number of workers decreases, a worker that leaves has time to send its trainers all
  // elements that it has begun to make.
  if (from.workers.most != from.workers.least)
    out.drain = std::chrono::minutes{1};
  out.endpoint = from.endpoint;
  out.heartbeat = from.heartbeat;
  out.lease = from.lease;
  out.jobs = from.jobs;
  out.work_dir = from.work_dir;
  out.worker_addresses = from.worker_addresses;
  out.deployment = from.deployment;
  out.worker_max_concurrent_saves = static_cast<size_t>(from.worker_max_concurrent_saves);
  out.most_stuck_threads = from.most_stuck_threads;
  out.cross_trainer_cache_size = from.cross_trainer_cache_size;
  // The default is for the largest number of workers, because those that are started later share
  // the memory, too.
  if (out.cross_trainer_cache_size == 0)
    out.cross_trainer_cache_size = default_cache_bytes(from.workers.most);
  out.save_max_file_size = from.save_max_file_size;
  return out;
}

int run_apart(const settled& now) {
  const auto& given = now.values;
  if (given.workers.most != given.workers.least) {
    std::fprintf(stderr,
                 "headrace up: --workers is a range, and --isolate runs a fixed number: give "
                 "a number, or leave --isolate out\n");
    return static_cast<int>(exit_code::usage);
  }
  // These settings are for this process alone: it passes ports to the servers, and the servers
  // write their logs to this process.
  const texts own{"port", "port-file", "log-file", "no-restart"};
  auto not_of_workers = own;
  // Two processes cannot have the same port, so only the dispatcher gets the HTTP port.
  not_of_workers.emplace_back("http-port");
  return run_isolated({.workers = given.workers.least,
                       .endpoint = given.endpoint,
                       .port_file = given.process.port_file,
                       .log = given.process.log,
                       .dispatcher_flags = flags_for(now, server_kind::dispatcher, own),
                       .worker_flags = flags_for(now, server_kind::worker, not_of_workers)});
}

int run(const server_settings& given) {
  return serve("up", given.process, [&](const process_lives& lives, const logger& log) {
    auto options = in_process(options_of(given), "up", lives, log);
    options.find_function = functions_of(given.plugins);
    options.endpoint.port = lives.port(0, options.endpoint.port);
    for (int i = 0; i < options.workers; ++i)
      options.data_ports.push_back(lives.port(static_cast<size_t>(i) + 1, 0));
    auto cluster = std::make_shared<local_cluster>(options);
    running out{cluster, cluster->target(), cluster->ports(), "dispatcher"};
    auto shows = monitor::of_dispatcher(options.endpoint, out.ports.front());
    if (const auto& [least, most] = given.workers; least != most) {
      struct scaled {
        std::shared_ptr<local_cluster> cluster;
        std::unique_ptr<scaling> by;
      };
      auto by =
        std::make_unique<scaling>(*cluster, static_cast<uint32_t>(least),
                                  worker_demand::options{.least = static_cast<uint32_t>(least),
                                                         .most = static_cast<uint32_t>(most)},
                                  shows.status, log);
      out.server = std::make_shared<scaled>(scaled{std::move(cluster), std::move(by)});
    }
    return with_web_port(std::move(out), given, lives, std::move(shows), log);
  });
}

} // namespace

void add_up(CLI::App& app, action& chosen) {
  auto& sub = *app.add_subcommand(
    "up", "A dispatcher and workers on this host, in one process or (--isolate) in one each");
  add_settings(sub, server_kind::up, [&chosen](const settled& now) {
    chosen = [now] { return now.values.isolate ? run_apart(now) : run(now.values); };
  });
}

} // namespace headrace::detail::command
