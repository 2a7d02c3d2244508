#include "headrace/client/command/run/run_servers.hpp"

#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/guarded.hpp"
#include "headrace/runtime/process/this_program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headrace::detail::command {
namespace {

/// The longest time that `turn` waits.
constexpr auto moment = std::chrono::milliseconds{50};
/// The time from SIGTERM to SIGKILL, for a server.
constexpr auto server_limit = std::chrono::seconds{5};

void add_common(std::vector<std::string>& argv, const run_options& options) {
  argv.push_back("--host=" + options.host);
  if (!options.advertise.empty())
    argv.push_back("--advertise=" + options.advertise);
  if (!options.config.empty())
    argv.push_back("--config=" + options.config);
  if (options.tls.enabled()) {
    argv.push_back("--tls-cert=" + options.tls.certificate);
    argv.push_back("--tls-key=" + options.tls.key);
    argv.push_back("--tls-ca=" + options.tls.ca_file);
  }
  if (options.insecure)
    argv.push_back("--insecure");
}

/// Signals that are meant for the command. The servers ignore them: a signal that is sent to all
/// processes of a job step also reaches the servers, and would end them.
std::vector<int> for_commands_alone() {
  std::vector<int> out{SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR};
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) out.push_back(signal);
  return out;
}

/// The status code for the end of a server.
status_code code_of(const process_end& how) {
  if (how.signal == 0)
    switch (static_cast<exit_code>(how.code)) {
    case exit_code::usage: return status_code::invalid_argument;
    case exit_code::cannot_listen: return status_code::already_exists;
    case exit_code::cannot_connect: return status_code::unavailable;
    case exit_code::internal: return status_code::internal;
    default: break;
    }
  return status_code::failed_precondition;
}

} // namespace

run_servers::run_servers(int signals) : of_guard_(signals) {
  auto set = signals_of_a_command();
  ::sigaddset(&set, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

run_servers::~run_servers() {
  servers_.clear(); // kills the servers that still run
  ::close(signals_);
}

// -- starting --------------------------------------------------------------------------------

status run_servers::start(const std::string& name, std::vector<std::string> argv,
                          std::vector<std::string> environment) {
  environment.emplace_back("HEADRACE_PORT_FILE=");
  auto process = child_process::start({.argv = std::move(argv),
                                       .environment = std::move(environment),
                                       .merge_stderr = true,
                                       .own_group = true,
                                       .ignored_signals = for_commands_alone()});
  if (!process)
    return process.status();
  servers_.push_back({.name = name, .process = *std::move(process)});
  return {};
}

result<std::string> run_servers::start_dispatcher(const run_options& options, time_point until) {
  std::vector<std::string> argv{this_program(), "dispatcher",
                                fmt::format("--port={}", options.port),
                                "--log-level=" + options.log_level};
  add_common(argv, options);
  if (!options.work_dir.empty())
    argv.push_back("--work-dir=" + options.work_dir);
  HEADRACE_TRY(start("dispatcher", std::move(argv)));
  const auto& it = servers_.back();
  HEADRACE_ASSIGN(const auto listens, wait(until, [&]() -> result<bool> {
                    HEADRACE_TRY(failed_);
                    return !it.listens.empty();
                  }));
  if (!listens)
    return deadline_exceeded("the dispatcher did not listen within --start-timeout");
  return it.listens;
}

status run_servers::start_worker(const run_options& options, const std::string& dispatcher,
                                 const std::vector<std::string>& tags) {
  std::vector<std::string> argv{this_program(), "worker", "--log-level=" + options.log_level};
  if (!options.python.empty())
    argv = {options.python, "-m", "headrace", "worker", "--python"};
  argv.push_back("--dispatcher=" + dispatcher);
  for (const auto& tag : tags) argv.push_back("--tag=" + tag);
  add_common(argv, options);
  // A port number in HEADRACE_HTTP_PORT is for the dispatcher alone, because two processes cannot
  // listen on one port.
  std::vector<std::string> environment;
  if (const auto http = variable_of_process("HEADRACE_HTTP_PORT");
      http.find_first_not_of("0123456789") == std::string::npos)
    environment.emplace_back("HEADRACE_HTTP_PORT=");
  return start(fmt::format("worker {}", servers_.size()), std::move(argv), std::move(environment));
}

size_t run_servers::running_workers() const {
  return static_cast<size_t>(std::ranges::count_if(
    servers_, [](const server& x) { return x.process && x.name != "dispatcher"; }));
}

// -- events ------------------------------------------------------------------------------------

void run_servers::read_lines(server& of) {
  constexpr std::string_view words = " listening on ";
  while (of.process && of.reads) {
    const auto line = of.process->read_line(duration::zero());
    if (!line) {
      of.reads = line.status().code() != status_code::out_of_range;
      return;
    }
    const auto at = line->find(words);
    if (of.listens.empty() && at != std::string::npos && of.name.starts_with(line->substr(0, at))) {
      of.listens = line->substr(at + words.size());
      continue;
    }
    std::fprintf(stderr, "%s\n", line->c_str());
  }
}

void run_servers::reap() {
  for (auto& x : servers_) {
    if (!x.process)
      continue;
    const auto how = x.process->wait(duration::zero());
    if (!how)
      continue;
    read_lines(x);
    x.process.reset();
    // A worker that was drained, or that a user has stopped, ends with success. That is no failure.
    if (stopping_ || signal_ != 0 || (*how == process_end{} && x.name != "dispatcher"))
      continue;
    // The output of the process is not part of the text, because it was printed when it arrived.
    const auto text = fmt::format("the {} ended: {}", x.name, to_string(*how));
    if (failed_.ok())
      failed_ = {code_of(*how), text};
    without_dispatcher_ = without_dispatcher_ || x.name == "dispatcher";
    std::fprintf(stderr, "headrace run: %s\n", text.c_str());
  }
  // This process adopts and reaps the descendants of the command whose parents have ended.
  siginfo_t info{};
  while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
    const auto pid = info.si_pid;
    if ((command_ != nullptr && command_->pid() == pid)
        || std::ranges::any_of(
          servers_, [&](const server& x) { return x.process && x.process->pid() == pid; }))
      break;
    if (witness_ && witness_->pid() == pid)
      witness_.reset();
    else
      ::waitpid(pid, nullptr, WNOHANG);
    info.si_pid = 0;
  }
}

void run_servers::handle_signal(int signal, passed_signals::place where) {
  if (signal_ == 0 && asks_to_stop(signal))
    signal_ = signal;
  if (command_ == nullptr)
    return;
  // A command that has left the process group does not receive the signals to the group, so they
  // must be passed on to it.
  if (::getpgid(command_->pid()) != ::getpgrp())
    where = passed_signals::place::ours;
  passed_.received(signal, where, clock::system().now());
}

void run_servers::read_signals() {
  using place = passed_signals::place;
  const auto read_bytes = [this](int from, place where) {
    unsigned char signal = 0;
    while (from >= 0 && ::read(from, &signal, 1) == 1) handle_signal(signal, where);
  };
  // The output of the witness is read first: for a signal in it, it is known that the command has
  // received the signal, too.
  if (witness_)
    read_bytes(witness_->output(), place::beside_it);
  read_bytes(of_guard_, place::ours);
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof(info)) == sizeof(info))
    if (static_cast<int>(info.ssi_signo) != SIGCHLD)
      handle_signal(static_cast<int>(info.ssi_signo), place::ours);
}

void run_servers::pass_signals() {
  if (command_ == nullptr)
    return;
  for (const int signal : passed_.due(clock::system().now())) command_->kill(signal);
  if (const auto& stop = passed_.first_stop(); stop && !std::exchange(stop_seen_, true))
    kill_at_ = stop->at + command_limit_;
  if (passed_.stopped_again())
    command_->kill(SIGKILL);
}

void run_servers::turn() {
  std::vector<pollfd> events{{signals_, POLLIN, 0}, {of_guard_, POLLIN, 0}};
  if (witness_)
    events.push_back({witness_->output(), POLLIN, 0});
  for (const auto& x : servers_)
    if (x.process && x.reads)
      events.push_back({x.process->output(), POLLIN, 0});
  ::poll(events.data(), events.size(), static_cast<int>(moment / std::chrono::milliseconds{1}));
  for (auto& x : servers_) read_lines(x);
  read_signals();
  pass_signals();
  reap();
}

result<bool> run_servers::wait(time_point until, const std::function<result<bool>()>& what) {
  for (;;) {
    turn();
    if (signal_ != 0)
      return cancelled("stopped by a signal");
    auto now = what();
    if (!now || *now || clock::system().now() >= until)
      return now;
  }
}

// -- the command -------------------------------------------------------------------------------

process_end run_servers::run(child_process& command, duration limit,
                             const std::function<std::string()>& why_stop) {
  command_ = &command;
  command_limit_ = limit;
  // The witness is started after the command, so signals to the group that it receives have reached
  // the command, too.
  if (auto witness = signal_witness::start())
    witness_.emplace(*std::move(witness));
  // A signal that arrived before this call counts as one that the command has not received.
  if (signal_ != 0)
    passed_.received(signal_, passed_signals::place::ours, clock::system().now());
  bool told = false;
  for (;;) {
    if (const auto how = command.wait(duration::zero())) {
      read_signals();
      command_ = nullptr;
      witness_.reset();
      return *how;
    }
    turn();
    if (const auto why = told ? std::string{} : why_stop(); !why.empty()) {
      told = true;
      std::fprintf(stderr, "headrace run: the command is stopped: %s\n", why.c_str());
      command.kill(SIGTERM);
      kill_at_ = clock::system().now() + limit;
    }
    if (kill_at_ && clock::system().now() >= *kill_at_) {
      command.kill(SIGKILL);
      kill_at_.reset();
    }
  }
}

// -- the end -----------------------------------------------------------------------------------

void run_servers::stop(const std::function<bool(const server&)>& which) {
  const auto runs = [&](const server& x) { return x.process && which(x); };
  for (auto& x : servers_)
    if (runs(x))
      x.process->kill(SIGTERM);
  const auto until = clock::system().now() + server_limit;
  while (clock::system().now() < until && std::ranges::any_of(servers_, runs)) turn();
  for (auto& x : servers_)
    if (runs(x))
      x.process.reset(); // the destructor kills the process
}

void run_servers::stop() {
  stopping_ = true;
  stop([](const server& x) { return x.name != "dispatcher"; });
  stop([](const server&) { return true; });
}

} // namespace headrace::detail::command
