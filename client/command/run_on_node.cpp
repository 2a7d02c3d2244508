#include "headrace/client/command/run_on_node.hpp"

#include "headrace/client/command/option_values.hpp"
#include "headrace/client/command/run_directory.hpp"
#include "headrace/client/command/run_servers.hpp"
#include "headrace/client/drain_worker.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/node/address.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/guarded.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace headrace::command {
namespace {

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

std::string tag_of(int rank) { return fmt::format("node-{}", rank); }

/// A text such as "rank 1" or "ranks 1 and 2".
std::string ranks_text(const std::vector<int>& ranks) {
  const bool one = ranks.size() == 1;
  return fmt::format("rank{} {}{}", one ? "" : "s",
                     fmt::join(ranks.begin(), ranks.end() - (one ? 0 : 1), ", "),
                     one ? "" : fmt::format(" and {}", ranks.back()));
}

void say(const std::string& text) { std::fprintf(stderr, "headrace run: %s\n", text.c_str()); }

class node_run {
public:
  /// `signals`: the descriptor of `run_guarded`.
  node_run(const run_options& options, int signals)
    : options_(options),
      directory_(options.directory, options.rank.job),
      host_(host_name()),
      servers_(signals) {}

  int run() {
    auto code = go();
    servers_.stop();
    if (!options_.directory.empty() && !token_.empty()) {
      if (leads())
        directory_.remove(options_.rank.size, token_);
      else
        note("ended");
    }
    return code;
  }

  /// Records that another process of this run was killed, so that its rank counts as ended.
  static void was_killed(const run_options& options) {
    if (options.directory.empty() || options.command.empty())
      return;
    const run_directory directory{options.directory, options.rank.job};
    const std::lock_guard guard{notes_};
    killed_ = true;
    if (const auto now = directory.service(); now && *now)
      (void)directory.write(options.rank.rank, {"ended", host_name(), options.workers},
                            (*now)->token);
  }

private:
  // -- the rank of the process -----------------------------------------------------------------

  /// True unless the process only runs workers.
  bool has_rank() const { return !options_.command.empty(); }
  bool leads() const { return has_rank() && options_.rank.rank == 0; }
  bool by_directory() const { return !options_.directory.empty(); }
  bool alone() const { return options_.rank.size == 1 && !by_directory(); }

  void note(const std::string& state) {
    const std::lock_guard guard{notes_};
    if (by_directory() && has_rank() && !killed_)
      if (const auto how =
            directory_.write(options_.rank.rank, {state, host_, options_.workers}, token_);
          !how)
        say(how.message());
  }

  // -- the command -------------------------------------------------------------------------------

  int go() {
    if (auto how = begin(); !how)
      return fail(how);
    if (!has_rank())
      return serve();
    const auto code = run_command();
    note("done");
    if (code != 0 || servers_.stop_signal() != 0)
      return code;
    const auto how = end();
    if (servers_.stop_signal() != 0)
      return 128 + servers_.stop_signal();
    return how.ok() ? code : fail(how);
  }

  int fail(const status& why) {
    if (servers_.stop_signal() != 0)
      return 128 + servers_.stop_signal();
    say(why.message());
    return static_cast<int>(exit_code_of(why));
  }

  /// Starts the servers of this process. When it returns, everything that the command needs is
  /// running.
  status begin() {
    const auto until = clock::system().now() + options_.start_timeout;
    if (leads())
      HEADRACE_TRY(start_dispatcher(until));
    HEADRACE_ASSIGN(here_, node::process({.role = node_role::tool, .tls = options_.tls}));
    if (!leads())
      HEADRACE_TRY(find_service(until));
    note("running");
    HEADRACE_TRY(start_workers());
    return has_rank() ? await_ranks(until) : status{};
  }

  status start_dispatcher(time_point until) {
    if (by_directory()) {
      HEADRACE_ASSIGN(const auto before, directory_.service());
      if (before && get_service_status(before->address, std::chrono::seconds{1}))
        return failed_precondition(
          fmt::format("{} is that of another run, with the service at {}; give each run a "
                      "directory of its own (--rendezvous)",
                      directory_.file(), before->address));
    }
    HEADRACE_ASSIGN(service_, servers_.start_dispatcher(options_, until));
    // The advertised address may not lead to this host from inside.
    const auto port = parse_address(service_).value().port;
    local_ = host_and_port(options_.host == "::"        ? "::1"
                           : is_wildcard(options_.host) ? "127.0.0.1"
                                                        : options_.host,
                           port);
    token_ = to_hex(random_id());
    if (by_directory())
      return directory_.publish({service_, host_, token_});
    return {};
  }

  status find_service(time_point until) {
    constexpr auto long_enough_to_replace = std::chrono::seconds{15};
    const auto begin = clock::system().now();
    std::string seen = "there is no " + directory_.file();
    const auto found = servers_.wait(until, [&]() -> result<bool> {
      if (by_directory()) {
        HEADRACE_ASSIGN(const auto now, directory_.service());
        if (!now)
          return false;
        service_ = now->address;
        token_ = now->token;
        if (const auto where = parse_address(service_);
            where && is_loopback(where->host) && now->host != host_) {
          seen = fmt::format(
            "the dispatcher listens on {} of the host {}, which {} cannot reach. Start all with "
            "--host 0.0.0.0 (or an address of the host) and the TLS files, or --insecure",
            service_, now->host, host_);
          // The record may be that of a killed run, which rank 0 is about to replace.
          if (clock::system().now() < begin + long_enough_to_replace)
            return false;
          return failed_precondition(seen);
        }
      } else {
        service_ = options_.service;
      }
      const auto answer = get_service_status(service_, std::chrono::seconds{1});
      if (!answer)
        seen = answer.status().message();
      return answer.ok();
    });
    local_ = service_;
    if (found && !*found)
      return deadline_exceeded(
        fmt::format("the dispatcher of rank 0 did not come within --start-timeout ({}): {}",
                    duration_text(options_.start_timeout), seen));
    return found.status();
  }

  status start_workers() {
    for (int i = 0; i < options_.workers; ++i)
      HEADRACE_TRY(servers_.start_worker(
        options_, local_, has_rank() ? tag_of(options_.rank.rank) : std::string{"no-command"}));
    return {};
  }

  /// The workers of the service by the rank that started them.
  std::map<int, std::vector<worker_status>> workers_of_ranks(const service_status& now) const {
    std::map<int, std::vector<worker_status>> out;
    for (const auto& x : now.workers)
      for (int rank = 0; rank < options_.rank.size; ++rank)
        if (std::ranges::find(x.tags, tag_of(rank)) != x.tags.end())
          out[rank].push_back(x);
    return out;
  }

  status await_ranks(time_point until) {
    std::vector<int> missing;
    std::string about;
    const auto come = servers_.wait(until, [&]() -> result<bool> {
      if (const auto dead = servers_.failed(); !dead.empty())
        return failed_precondition(dead);
      missing.clear();
      about.clear();
      if (by_directory()) {
        HEADRACE_ASSIGN(const auto there, directory_.service());
        if (!there)
          return unavailable("rank 0 has ended meanwhile");
        if (there->token != token_)
          return aborted(fmt::format("{} is that of another run by now; give each run a directory "
                                     "of its own (--rendezvous)",
                                     directory_.file()));
      }
      const auto now = get_service_status(local_, std::chrono::seconds{1});
      if (!now) {
        about = now.status().message();
        return false;
      }
      auto workers = workers_of_ranks(*now);
      const auto progress = by_directory() ? directory_.progress(options_.rank.size, token_)
                                           : std::map<int, run_progress>{};
      for (int rank = 0; rank < options_.rank.size; ++rank) {
        const auto at = progress.find(rank);
        if (by_directory() && at == progress.end() && rank != options_.rank.rank) {
          missing.push_back(rank);
          continue;
        }
        const auto wanted = static_cast<size_t>(rank == options_.rank.rank || at == progress.end()
                                                  ? options_.workers
                                                  : at->second.workers);
        // A worker that has left also counts as registered.
        if (workers[rank].size() < wanted
            && (at == progress.end() || at->second.state == "running")) {
          missing.push_back(rank);
          about +=
            fmt::format("; of rank {} there {} {} of {} workers", rank,
                        workers[rank].size() == 1 ? "is" : "are", workers[rank].size(), wanted);
        }
      }
      return missing.empty();
    });
    if (come && !*come && missing.empty())
      return deadline_exceeded(fmt::format("the service did not answer: {}", about));
    if (come && !*come)
      return deadline_exceeded(fmt::format("{} of {} did not come within --start-timeout ({}){}",
                                           ranks_text(missing), options_.rank.size,
                                           duration_text(options_.start_timeout), about));
    return come.status();
  }

  // -- the command -----------------------------------------------------------------------------

  int run_command() {
    child_options program{.argv = options_.command, .read_stdout = false};
    program.environment = {"HEADRACE_SERVICE=" + service_};
    if (options_.tls.enabled())
      for (const auto& [name, value] : {std::pair{"HEADRACE_TLS_CERT", options_.tls.certificate},
                                        {"HEADRACE_TLS_KEY", options_.tls.key},
                                        {"HEADRACE_TLS_CA", options_.tls.ca_file}})
        program.environment.push_back(fmt::format("{}={}", name, value));
    auto child = child_process::start(std::move(program));
    if (!child) {
      say(child.status().message());
      return static_cast<int>(exit_code::exec_failed);
    }
    return servers_.run(*child, options_.stop_timeout, leads()).as_exit_code();
  }

  // -- the end -----------------------------------------------------------------------------------

  status end() {
    const auto until = clock::system().now() + options_.end_timeout;
    if (leads()) {
      HEADRACE_TRY(await_ends(
        until, [](int, const run_progress*) { return true; }, "ended"));
      drain([](const worker_status&) { return true; });
      return {};
    }
    // Processes of this node that start no workers may read from the workers of this process.
    if (by_directory() && options_.workers > 0 && options_.rank.local_size > 1)
      HEADRACE_TRY(await_ends(
        until,
        [this](int, const run_progress* x) {
          return x != nullptr && x->host == host_ && x->workers == 0;
        },
        "done"));
    drain([tag = tag_of(options_.rank.rank)](const worker_status& x) {
      return std::ranges::find(x.tags, tag) != x.tags.end();
    });
    return {};
  }

  /// Waits until the other ranks of which `which` is true are in the state `state`, have ended, or
  /// are lost.
  status await_ends(time_point until, const std::function<bool(int, const run_progress*)>& which,
                    const std::string& state) {
    // A worker that is being restarted counts as lost for a short time.
    constexpr auto long_enough = std::chrono::seconds{10};
    std::map<int, time_point> without;
    std::vector<int> missing;
    const auto over = servers_.wait(until, [&]() -> result<bool> {
      missing.clear();
      const auto at = clock::system().now();
      const auto now = get_service_status(local_, std::chrono::seconds{1});
      auto workers = now ? workers_of_ranks(*now) : std::map<int, std::vector<worker_status>>{};
      const auto progress = by_directory() ? directory_.progress(options_.rank.size, token_)
                                           : std::map<int, run_progress>{};
      for (int rank = 0; rank < options_.rank.size; ++rank) {
        const auto found = progress.find(rank);
        const auto* how = found != progress.end() ? &found->second : nullptr;
        if (rank == options_.rank.rank || !which(rank, how))
          continue;
        if (how != nullptr && (how->state == "ended" || how->state == state))
          continue;
        const auto& its = workers[rank];
        if (!now || its.empty() || std::ranges::any_of(its, &worker_status::alive)) {
          without.erase(rank);
          missing.push_back(rank);
        } else if (!std::ranges::all_of(its, &worker_status::left)
                   && at - without.emplace(rank, at).first->second < long_enough) {
          missing.push_back(rank);
        }
      }
      return missing.empty();
    });
    if (over && !*over)
      return aborted(fmt::format("the command of {} of {} had not ended within --end-timeout ({})",
                                 ranks_text(missing), options_.rank.size,
                                 duration_text(options_.end_timeout)));
    return over.status();
  }

  /// Drains workers, all at the same time.
  void drain(const std::function<bool(const worker_status&)>& which) {
    const auto now = get_service_status(local_, std::chrono::seconds{5});
    if (!now)
      return say("the workers are not drained: " + now.status().message());
    std::vector<std::jthread> calls;
    for (const auto& x : now->workers)
      if (x.alive && which(x))
        calls.emplace_back([this, address = x.address] {
          if (const auto how = drain_worker(
                local_, address, {.timeout = options_.drain_timeout, .stop = stop_.get_token()});
              !how && how.status().code() != status_code::cancelled)
            say(how.status().message());
        });
    std::jthread all{[&] {
      for (auto& x : calls) x.join();
      calls.clear();
      drained_ = true;
    }};
    (void)servers_.wait(clock::system().now() + options_.drain_timeout + std::chrono::seconds{1},
                        [&]() -> result<bool> { return drained_.load(); });
    stop_.request_stop();
  }

  /// For a process without a command: waits until its workers have ended, which the process of rank
  /// 0 drains.
  int serve() {
    while (servers_.stop_signal() == 0 && servers_.running_workers() > 0) servers_.turn();
    if (servers_.stop_signal() != 0)
      return static_cast<int>(exit_code::ok);
    if (const auto dead = servers_.failed(); !dead.empty())
      return fail(aborted(dead));
    return static_cast<int>(exit_code::ok);
  }

  // `was_killed` writes the last record: after it, `note` writes none.
  static inline std::mutex notes_;
  static inline bool killed_ = false;

  const run_options& options_;
  run_directory directory_;
  std::string host_;
  run_servers servers_;
  std::shared_ptr<node> here_; ///< the node for requests to the service, with its certificate
  std::string service_;        ///< the address of the service for other processes
  std::string local_;          ///< the address of the service for this process
  std::string token_;
  std::stop_source stop_;
  std::atomic<bool> drained_ = false;
};

} // namespace

int run_on_node(const run_options& options) {
  return run_guarded(
    [&](int signals) {
      return node_run{options, signals}.run();
    },
    [&] { node_run::was_killed(options); });
}

} // namespace headrace::command
