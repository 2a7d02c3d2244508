#include "headrace/client/command/servers/isolated.hpp"

#include "headrace/client/command/servers/port_file.hpp"
#include "headrace/client/command/settings/past_variable.hpp"
#include "headrace/client/command/settings/settle.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/log/line_output.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/process_parent.hpp"
#include "headrace/runtime/process/process_team.hpp"
#include "headrace/runtime/process/this_program.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

namespace headrace::detail::command {

namespace {

class isolated_cluster {
public:
  isolated_cluster(const isolated_options& options, const logger& log, int log_file)
    : options_(options),
      log_(log),
      lines_(log_file),
      port_(options.endpoint.port),
      team_({.path = "up", .on_end = [this](const std::string& id, const process_end& how) {
               log_.warn("a process ended", {{"process", id}, {"how", to_string(how)}});
             }}) {}

  team_end run() {
    add("dispatcher", restart_policy::permanent, port_, "--port", options_.dispatcher_flags);
    return team_.run();
  }

private:
  /// Adds a server. `port`: the port for its first life; 0: any free one. Later lives use the port
  /// on which the server listened before.
  void add(const std::string& id, restart_policy restart, uint16_t port, const char* port_flag,
           const std::vector<std::string>& flags) {
    auto& of = servers_[id];
    of.port = port;
    const auto role = id.substr(0, id.find(' '));
    const auto how = team_.add(
      {.id = id,
       .restart = restart,
       .program =
         [this, &of, role, port_flag, flags](const process_past& past) {
           child_options out{.argv = {this_program(), role, "--no-restart",
                                      fmt::format("{}={}", port_flag, of.port)}};
           if (role == "worker")
             out.argv.push_back("--dispatcher=" + dispatcher_);
           out.argv.insert(out.argv.end(), flags.begin(), flags.end());
           out.environment = no_variables();
           out.environment.push_back(past_variable(past));
           return out;
         },
       .on_line = [this, &of, id, role](const std::string& line) { said(of, id, role, line); },
       .is_final =
         [this, &of](const process_end& how) {
           // Another process uses the port now. A worker takes any free port in its next life.
           if (of.listened && how.code == static_cast<int>(exit_code::cannot_listen)
               && &of != &servers_.at("dispatcher"))
             of.port = 0;
           // A restart does not help if the exit code shows that the options of the server are
           // invalid or that the dispatcher refuses it, or if the server ended with an error before
           // it had ever listened, and did not crash.
           const auto is = [&](exit_code x) { return how == process_end{static_cast<int>(x), 0}; };
           return is(exit_code::failure) || is(exit_code::usage) || is(exit_code::version_mismatch)
                  || (!of.listened && how != process_end{} && !is_restarted(how));
         }});
    if (!how)
      log_.error("a process was not started", {{"process", id}, {"why", to_string(how)}});
  }

  struct server {
    uint16_t port = 0;
    bool listened = false; ///< the server has listened in some life
  };

  void said(server& of, const std::string& id, const std::string& role, const std::string& line) {
    const auto words = role + " listening on ";
    if (!line.starts_with(words)) {
      if (role == "dispatcher" && line.starts_with("status page at ") && page_.empty())
        page_ = line;
      else
        lines_.write(line);
      return;
    }
    const auto address = line.substr(words.size());
    if (const auto where = parse_address(address))
      of.port = where->port;
    const bool first = !std::exchange(of.listened, true);
    log_.info("a process listens", {{"process", id}, {"address", address}});
    if (!first)
      return;
    if (role == "dispatcher")
      begin_workers(address, of.port);
    else
      --silent_;
    if (silent_ == 0)
      say_where();
  }

  void begin_workers(const std::string& address, uint16_t port) {
    advertised_ = address;
    port_ = port;
    // The workers might be unable to reach the dispatcher at its advertised address, for instance
    // behind address translation. So they connect to its address on this host.
    dispatcher_ = host_and_port(host_from_here(options_.endpoint.host), port);
    silent_ = options_.workers;
    for (int i = 1; i <= options_.workers; ++i)
      add(fmt::format("worker {}", i), restart_policy::transient, 0, "--data-port",
          options_.worker_flags);
  }

  void say_where() {
    if (const auto how = published_port_.write(options_.port_file, port_); !how)
      log_.error("--port-file", {{"why", how.message()}});
    std::printf("dispatcher listening on %s\n", advertised_.c_str());
    if (!page_.empty())
      std::printf("%s\n", page_.c_str());
    std::fflush(stdout);
  }

  const isolated_options& options_;
  logger log_;
  line_output lines_; ///< writes the output of the processes
  uint16_t port_;
  port_file published_port_;
  std::string page_;       ///< the line with the address of the dispatcher's page
  std::string advertised_; ///< the dispatcher's advertised address
  std::string dispatcher_; ///< the dispatcher's address for the workers of this process
  int silent_ = -1;        ///< the number of workers that do not listen yet; -1: unknown
  std::map<std::string, server> servers_;
  process_team team_;
};

int fail(const status& why) {
  std::fprintf(stderr, "headrace up: %s\n", why.message().c_str());
  return static_cast<int>(exit_code_of(why));
}

} // namespace

int run_isolated(const isolated_options& options) {
  ::signal(SIGPIPE, SIG_IGN); // a reader of the log may end before the servers do
  const auto log = logger::open(options.log);
  if (!log)
    return fail(log.status());
  int file = STDERR_FILENO;
  if (!options.log.file.empty())
    file = ::open(options.log.file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    return fail(invalid_argument("cannot write " + options.log.file));
  const auto end = isolated_cluster{options, *log, file}.run();
  if (end.why.ok())
    return static_cast<int>(exit_code::ok);
  auto text = fmt::format("headrace up: all ends, as {} ended: {}\n{}\n", end.member,
                          to_string(end.last), end.why.message());
  for (size_t i = 0; i < end.lines.size(); ++i)
    text += (i == 0 ? "what it wrote last:\n  " : "  ") + end.lines[i] + "\n";
  line_output{STDERR_FILENO}.write(text);
  const auto code = end.last.as_exit_code();
  return code != 0 ? code : static_cast<int>(exit_code::failure);
}

} // namespace headrace::detail::command
