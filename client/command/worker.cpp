#include "headrace/client/command/option_values.hpp"
#include "headrace/client/command/server_flags.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/runtime/node/address.hpp"

#include <csignal>
#include <unistd.h>

namespace headrace::command {
namespace {

struct flags {
  worker_server_options server;
  process_flags process;
  std::vector<std::string> plugins;
};

int run(const flags& given) {
  return serve("worker", given.process, [&](const process_lives& lives, const logger& log) {
    auto options = in_process(given.server, "worker", lives, log);
    options.find_function = functions_of(given.plugins);
    options.on_other_version = [](const status& why) {
      end_process("worker", why, exit_code_of_connect(why));
    };
    options.on_not_listed = options.on_failed;
    // It ends as if it had been told so by a signal: in order, and for good.
    options.on_left = [] { ::kill(::getpid(), SIGTERM); };
    options.endpoint.data_port = lives.port(0, options.endpoint.data_port);
    auto server = std::make_shared<worker_server>(options);
    // Scripts that put something in front of the port want to know the port itself.
    auto where = options.endpoint.advertise_data.empty()
                   ? server->address()
                   : host_and_port(options.endpoint.host, server->data_port());
    return running{server, where, {server->data_port()}};
  });
}

} // namespace

void add_worker(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  given->server.dispatcher = "127.0.0.1:5050";
  auto& sub = *app.add_subcommand(
    "worker", "Run input pipelines for a dispatcher. Waits for it, and comes back to it "
              "when it was lost");
  auto& server = given->server;
  sub.add_option("--dispatcher", server.dispatcher, "Address of the dispatcher")
    ->type_name("HOST:PORT")
    ->capture_default_str();
  add_endpoint_flags(sub, server.endpoint);
  add_port(sub, "--data-port", server.endpoint.data_port, "Port from which trainers read elements");
  sub
    .add_option("--advertise-data", server.endpoint.advertise_data,
                "Where trainers are told to read, if not from the advertised host and --data-port: "
                "behind address translation, or a relay")
    ->type_name("HOST:PORT");
  sub
    .add_option("--tag", server.tags, "A label that jobs may ask for; may be given more than once")
    ->type_name("TAG")
    ->allow_extra_args(false);
  add_duration(sub, "--lease", server.lease,
               "The dispatcher's --lease: a trainer's connection that is silent for so long is "
               "given up");
  add_plugin_flag(sub, given->plugins);
  add_process_flags(sub, given->process);
  add_duration(sub, "--drain", server.drain,
               "How long it may take, when it is told to stop, to give trainers what it has begun "
               "for them")
    ->group("Process");
  add_stuck_flag(sub, server.most_stuck_threads);
  sub.callback([given, &chosen] {
    if (auto where = parse_address(given->server.dispatcher); !where)
      throw CLI::ValidationError{"--dispatcher: " + where.status().message()};
    if (const auto& told = given->server.endpoint.advertise_data; !told.empty())
      if (auto where = parse_address(told); !where)
        throw CLI::ValidationError{"--advertise-data: " + where.status().message()};
    given->process.stop_budget = given->server.drain + std::chrono::milliseconds{400};
    chosen = [given] { return run(*given); };
  });
}

} // namespace headrace::command
