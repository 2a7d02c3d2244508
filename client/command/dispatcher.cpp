#include "headrace/client/command/option_values.hpp"
#include "headrace/client/command/server_flags.hpp"
#include "headrace/client/command/subcommands.hpp"

namespace headrace::command {
namespace {

struct flags {
  dispatcher_server_options server;
  process_flags process;
};

int run(const flags& given) {
  return serve("dispatcher", given.process, [&](const process_lives& lives, const logger& log) {
    auto options = in_process(given.server, "dispatcher", lives, log);
    options.endpoint.port = lives.port(0, options.endpoint.port);
    auto server = std::make_shared<dispatcher_server>(options);
    return running{server, server->target(), {server->port()}};
  });
}

} // namespace

void add_dispatcher(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  given->server.endpoint.port = 5050;
  auto& sub = *app.add_subcommand("dispatcher",
                                  "Serve workers and trainers: knows datasets, workers and jobs. "
                                  "One for each service");
  auto& server = given->server;
  add_endpoint_flags(sub, server.endpoint);
  add_port(sub, "--port", server.endpoint.port, "Port for workers and trainers");
  add_timing_flags(sub, server.heartbeat.emplace(std::chrono::seconds{1}), server.lease);
  add_job_flags(sub, server.jobs);
  add_work_dir_flag(sub, server.work_dir);
  add_worker_addresses_flag(sub, server.worker_addresses);
  add_process_flags(sub, given->process);
  sub.callback([given, &chosen] {
    check_timing(*given->server.heartbeat, given->server.lease, given->server.jobs);
    chosen = [given] { return run(*given); };
  });
}

} // namespace headrace::command
