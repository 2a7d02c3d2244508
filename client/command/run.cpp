#include "headrace/client/command/run/run_on_node.hpp"
#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace headrace::detail::command {
namespace {

struct flags {
  run_options options;
  std::string rendezvous;
  std::optional<int> nodes;
  std::optional<int> node_rank;
  bool python = false;
};

/// The directory through which the processes of a run on a single host find each other.
std::string own_directory() {
  if (const auto runtime = variable_of_process("XDG_RUNTIME_DIR"); !runtime.empty())
    return runtime + "/headrace";
  return fmt::format("/tmp/headrace-{}", ::geteuid());
}

status settle_rendezvous(flags& given) {
  auto& out = given.options;
  const auto& rank = out.rank;
  const auto& where = given.rendezvous;
  if (where.empty()) {
    if (out.command.empty())
      return invalid_argument("without a command it brings workers to a run of others, and needs "
                              "their --rendezvous");
    if (rank.size > rank.local_size)
      return invalid_argument(
        fmt::format("{} processes ({}) need a --rendezvous: a directory that all of them see, or "
                    "the host and port of the first one: host:5050",
                    rank.size, rank.by));
    if (rank.size > 1)
      out.directory = own_directory();
    return {};
  }
  if (where.find('/') != std::string::npos || where.find(':') == std::string::npos) {
    out.directory = where;
    return {};
  }
  auto address = parse_address(where);
  if (!address)
    return address.status().with_context(
      "--rendezvous: neither a directory (DIR, ./DIR) nor an address");
  if (rank.local_size > 1)
    return invalid_argument(fmt::format(
      "{} processes on a node ({}) meet in a directory that all of them see, not at an address: "
      "--rendezvous DIR",
      rank.local_size, rank.by));
  if (out.workers == 0 && rank.size > 1)
    return invalid_argument("--workers-per-node 0 needs a directory: --rendezvous DIR. By an "
                            "address, a node is known by its workers");
  if (!is_loopback(address->host) && is_loopback(out.host))
    return invalid_argument(fmt::format(
      "--rendezvous {} is not of this host alone, but the servers are to listen on {}: give --host "
      "0.0.0.0 (or an address of the host) and the TLS files, or --insecure",
      where, out.host));
  // With a loopback address all processes of the run are on this host. The other ranks connect to
  // that address, so the dispatcher of rank 0 must listen on it.
  const auto number = [](const std::string& host) {
    return host == "localhost" ? "127.0.0.1" : host;
  };
  if (rank.rank == 0 && !out.command.empty() && is_loopback(address->host) && !is_wildcard(out.host)
      && number(address->host) != number(out.host))
    return invalid_argument(fmt::format("--rendezvous {}: the dispatcher is to listen on {}, where "
                                        "the others do not look; give --host {}",
                                        where, out.host, address->host));
  out.service = where;
  out.port = address->port;
  return {};
}

status settle(flags& given) {
  auto& out = given.options;
  auto rank = rank_of_process(given.nodes, given.node_rank, variable_of_process);
  if (!rank)
    return rank.status();
  out.rank = *std::move(rank);
  // One process of each node starts the workers of the node.
  if (out.rank.local_rank != 0)
    out.workers = 0;
  // Processes that only run workers have no rank.
  if (out.command.empty())
    out.rank = {.job = out.rank.job};
  if (auto how = settle_rendezvous(given); !how)
    return how;
  const bool all = !out.tls.certificate.empty() && !out.tls.key.empty() && !out.tls.ca_file.empty();
  if (out.tls.enabled() && !all)
    return invalid_argument("--tls-cert, --tls-key and --tls-ca are given together or not at all");
  if (!is_loopback(out.host) && !out.tls.enabled() && !out.insecure)
    return invalid_argument(fmt::format(
      "--host {}: anybody who reaches it could use the service. Give certificates (--tls-cert, "
      "--tls-key, --tls-ca), or say --insecure if the network itself is trusted",
      out.host));
  if (given.python) {
    const auto known = variable_of_process("HEADRACE_PYTHON");
    out.python = known.empty() ? "python3" : known;
  }
  return {};
}

void add_text(CLI::App& sub, const std::string& name, std::string& into, const char* type,
              const std::string& help, const char* variable = nullptr) {
  auto* option = sub.add_option(name, into, help)->type_name(type)->capture_default_str();
  if (variable != nullptr)
    option->envname(variable);
}

} // namespace

void add_run(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& out = given->options;
  auto& sub = *app.add_subcommand(
    "run", "Run a training command beside a service for it: the same line on every node. The first "
           "process starts the dispatcher, one of each node its workers; they end with the "
           "command, whose exit code is that of headrace run");
  sub
    .add_option("command", out.command,
                "After --: the command and its arguments. It finds the service by "
                "HEADRACE_SERVICE. Without a command, the workers serve a run of others until it "
                "has ended")
    ->type_name("COMMAND...");
  sub.add_option("--workers-per-node", out.workers, "How many workers each node starts")
    ->check(CLI::Range(0, 1024))
    ->type_name("N")
    ->capture_default_str();
  add_text(sub, "--rendezvous", given->rendezvous, "DIR|HOST:PORT",
           "Where several processes find each other: a directory that all of them see, or the "
           "address at which the first one starts the dispatcher");
  sub
    .add_option(
      "--nodes", given->nodes,
      "How many nodes there are, where no launcher (srun, mpirun, torchrun, pssh) says so")
    ->check(CLI::Range(1, 1 << 20))
    ->type_name("N");
  sub.add_option("--node-rank", given->node_rank, "Which one this is, from 0")
    ->check(CLI::Range(0, 1 << 20))
    ->type_name("N");
  sub.add_flag("--python", given->python,
               "Workers run Python functions, too: `headrace worker --python`, by the "
               "interpreter of the installed package");
  add_text(sub, "--host", out.host, "HOST",
           "Address to bind; off loopback it needs TLS, or --insecure", "HEADRACE_HOST");
  add_text(sub, "--advertise", out.advertise, "HOST",
           "Host that others are told to connect to; default: that of --host",
           "HEADRACE_ADVERTISE");
  add_text(sub, "--work-dir", out.work_dir, "DIR",
           "Directory in which the dispatcher keeps datasets and jobs", "HEADRACE_WORK_DIR");
  add_text(sub, "--config", out.config, "FILE", "File with further settings of the servers",
           "HEADRACE_CONFIG");
  add_text(sub, "--log-level", out.log_level, "LEVEL",
           "Of the servers: trace, debug, info, warn, error or off");
  for (const auto& [name, into, variable, help] :
       {std::tuple{"--tls-cert", &out.tls.certificate, "HEADRACE_TLS_CERT", "Certificate (PEM)"},
        {"--tls-key", &out.tls.key, "HEADRACE_TLS_KEY", "Its private key (PEM, not encrypted)"},
        {"--tls-ca", &out.tls.ca_file, "HEADRACE_TLS_CA",
         "Authorities whose certificates are accepted (PEM)"}})
    sub.add_option(name, *into, help)->type_name("FILE")->envname(variable)->group("Security");
  sub
    .add_flag("--insecure", out.insecure,
              "Listen off loopback without TLS: anybody who reaches the ports can use them")
    ->group("Security");
  const std::string waits = "Waits";
  add_duration(sub, "--start-timeout", out.start_timeout,
               "For the dispatcher, and the workers of all nodes; then it ends with exit code 4")
    ->group(waits);
  add_duration(sub, "--end-timeout", out.end_timeout,
               "For the commands of other nodes, after this one's has ended well")
    ->group(waits);
  add_duration(sub, "--drain-timeout", out.drain_timeout, "For workers to leave in order")
    ->group(waits);
  add_duration(sub, "--lost-timeout", out.lost_timeout,
               "For the dispatcher of rank 0 to answer again; then the command gets SIGTERM")
    ->group(waits);
  add_duration(sub, "--stop-timeout", out.stop_timeout,
               "From a signal that asks to stop, which the command gets, to its SIGKILL")
    ->group(waits);
  sub.callback([given, &chosen] {
    chosen = [given] {
      if (const auto how = settle(*given); !how) {
        std::fprintf(stderr, "headrace run: %s\n", how.message().c_str());
        return static_cast<int>(exit_code::usage);
      }
      return run_on_node(given->options);
    };
  });
}

} // namespace headrace::detail::command
