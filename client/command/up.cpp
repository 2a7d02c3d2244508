#include "headrace/client/command/isolated.hpp"
#include "headrace/client/command/option_values.hpp"
#include "headrace/client/command/server_flags.hpp"
#include "headrace/client/command/subcommands.hpp"

namespace headrace::command {
namespace {

struct flags {
  local_cluster_options cluster{.workers = 1, .endpoint = {.port = 5050}};
  process_flags process;
  std::vector<std::string> plugins;
  bool isolate = false;
  isolated_options isolated;
};

int run(const flags& given) {
  if (given.isolate)
    return run_isolated(given.isolated);
  return serve("up", given.process, [&](const process_lives& lives, const logger& log) {
    auto options = in_process(given.cluster, "up", lives, log);
    options.find_function = functions_of(given.plugins);
    options.endpoint.port = lives.port(0, options.endpoint.port);
    for (int i = 0; i < options.workers; ++i)
      options.data_ports.push_back(lives.port(static_cast<size_t>(i) + 1, 0));
    auto cluster = std::make_shared<local_cluster>(options);
    return running{cluster, cluster->target(), cluster->ports(), "dispatcher"};
  });
}

} // namespace

void add_up(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& sub = *app.add_subcommand(
    "up", "A dispatcher and workers on this host, in one process or (--isolate) in one each");
  auto& cluster = given->cluster;
  sub.add_option("--workers", cluster.workers, "How many workers")
    ->type_name("N")
    ->check(CLI::Range(0, 1024))
    ->capture_default_str();
  add_endpoint_flags(sub, cluster.endpoint);
  add_port(sub, "--port", cluster.endpoint.port, "Port of the dispatcher");
  add_timing_flags(sub, cluster.heartbeat.emplace(std::chrono::seconds{1}), cluster.lease);
  add_job_flags(sub, cluster.jobs);
  add_work_dir_flag(sub, cluster.work_dir);
  add_worker_addresses_flag(sub, cluster.worker_addresses);
  add_plugin_flag(sub, given->plugins);
  add_process_flags(sub, given->process);
  add_stuck_flag(sub, cluster.most_stuck_threads);
  sub
    .add_flag("--isolate", given->isolate,
              "A process for the dispatcher and for each worker, so that one that crashes takes no "
              "other with it; each is started again, and past five times a minute all end")
    ->excludes("--no-restart")
    ->group("Process");
  sub.callback([given, &app, &sub, &chosen] {
    check_timing(*given->cluster.heartbeat, given->cluster.lease, given->cluster.jobs);
    if (given->isolate) {
      const std::vector<std::string> own{"--port", "--port-file", "--log-file", "--no-restart"};
      given->isolated = {.workers = given->cluster.workers,
                         .endpoint = given->cluster.endpoint,
                         .port_file = given->process.port_file,
                         .log = given->process.log,
                         .dispatcher_flags = flags_for(*app.get_subcommand("dispatcher"), sub, own),
                         .worker_flags = flags_for(*app.get_subcommand("worker"), sub, own)};
    }
    chosen = [given] { return run(*given); };
  });
}

} // namespace headrace::command
