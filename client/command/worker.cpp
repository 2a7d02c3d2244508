#include "headrace/client/command/clusters/cluster_address.hpp"
#include "headrace/client/command/settings/server_flags.hpp"
#include "headrace/client/command/settings/setting_flags.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/runtime/base/address.hpp"

#include <csignal>
#include <unistd.h>

namespace headrace::detail::command {
namespace {

worker_server_options options_of(const server_settings& from) {
  worker_server_options out;
  out.dispatcher = from.dispatcher;
  out.endpoint = from.endpoint;
  out.lease = from.lease;
  out.tags = from.tags;
  out.most_stuck_threads = from.most_stuck_threads;
  out.cross_trainer_cache_size = from.cross_trainer_cache_size;
  out.save_max_file_size = from.save_max_file_size;
  out.heartbeat = from.own_heartbeat;
  out.dispatcher_timeout = from.dispatcher_timeout;
  out.drain = from.drain;
  return out;
}

int run(const server_settings& given) {
  return serve("worker", given.process, [&](const process_lives& lives, const logger& log) {
    auto options = in_process(options_of(given), "worker", lives, log);
    if (is_cluster_address(options.dispatcher))
      options.dispatcher =
        await_cluster_address(options.dispatcher, options.dispatcher_timeout, log).value();
    options.find_function = functions_of(given.plugins);
    options.on_other_version = [](const status& why) {
      end_process("worker", why, exit_code_of_connect(why));
    };
    options.on_not_listed = options.on_failed;
    // When the worker has left the service, the process ends as after SIGTERM: in order, and
    // without a restart.
    options.on_left = [] { ::kill(::getpid(), SIGTERM); };
    options.endpoint.data_port = lives.port(0, options.endpoint.data_port);
    auto server = std::make_shared<worker_server>(options);
    // If another address is advertised for the data, the first line of output still has the number
    // of the data port itself: scripts that forward another port to the data port need this number.
    auto where = options.endpoint.advertise_data.empty()
                   ? server->address()
                   : host_and_port(options.endpoint.host, server->data_port());
    running out{server, where, {server->data_port()}};
    return with_web_port(std::move(out), given, lives, monitor::of_worker(*server), log);
  });
}

} // namespace

void add_worker(CLI::App& app, action& chosen) {
  auto& sub = *app.add_subcommand(
    "worker", "Run input pipelines for a dispatcher. Waits for it, and comes back to it "
              "when it was lost");
  add_settings(sub, server_kind::worker, [&chosen](const settled& now) {
    chosen = [given = now.values] { return run(given); };
  });
}

} // namespace headrace::detail::command
