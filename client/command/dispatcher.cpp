#include "headrace/client/command/settings/server_flags.hpp"
#include "headrace/client/command/settings/setting_flags.hpp"
#include "headrace/client/command/subcommands.hpp"

namespace headrace::detail::command {
namespace {

dispatcher_server_options options_of(const server_settings& from) {
  dispatcher_server_options out;
  out.endpoint = from.endpoint;
  out.heartbeat = from.heartbeat;
  out.lease = from.lease;
  out.jobs = from.jobs;
  out.work_dir = from.work_dir;
  out.worker_addresses = from.worker_addresses;
  out.deployment = from.deployment;
  out.worker_max_concurrent_saves = static_cast<size_t>(from.worker_max_concurrent_saves);
  return out;
}

int run(const server_settings& given) {
  return serve("dispatcher", given.process, [&](const process_lives& lives, const logger& log) {
    auto options = in_process(options_of(given), "dispatcher", lives, log);
    options.endpoint.port = lives.port(0, options.endpoint.port);
    auto server = std::make_shared<dispatcher_server>(options);
    running out{server, server->target(), {server->port()}};
    return with_web_port(std::move(out), given, lives,
                         monitor::of_dispatcher(options.endpoint, server->port()), log);
  });
}

} // namespace

void add_dispatcher(CLI::App& app, action& chosen) {
  auto& sub = *app.add_subcommand("dispatcher",
                                  "Serve workers and trainers: knows datasets, workers and jobs. "
                                  "One for each service");
  add_settings(sub, server_kind::dispatcher, [&chosen](const settled& now) {
    chosen = [given = now.values] { return run(given); };
  });
}

} // namespace headrace::detail::command
