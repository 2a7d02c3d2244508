#include "headrace/client/command/option_values.hpp"
#include "headrace/client/command/server_flags.hpp"
#include "headrace/client/command/subcommands.hpp"

namespace headrace::command {
namespace {

struct flags {
  local_cluster_options cluster{.workers = 1, .port = 5050};
  process_flags process;
};

int run(const flags& given) {
  return serve("dispatcher", given.process, [&](const process_lives& lives, const logger& log) {
    auto options = given.cluster;
    options.log = log;
    options.port = lives.port(0, options.port);
    auto cluster = std::make_shared<local_cluster>(options);
    return running{cluster, cluster->target()};
  });
}

} // namespace

void add_up(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& sub = *app.add_subcommand(
    "up", "A dispatcher and workers in one process on this host, for development");
  auto& cluster = given->cluster;
  sub.add_option("--workers", cluster.workers, "How many workers")
    ->type_name("N")
    ->check(CLI::Range(0, 1024))
    ->capture_default_str();
  add_port(sub, "--port", cluster.port, "Port of the dispatcher, on loopback");
  add_duration(sub, "--heartbeat", cluster.heartbeat,
               "How often workers and trainers show that they live");
  add_duration(sub, "--lease", cluster.lease, "How long one that is silent still counts as alive");
  add_process_flags(sub, given->process);
  sub.callback([given, &chosen] { chosen = [given] { return run(*given); }; });
}

} // namespace headrace::command
