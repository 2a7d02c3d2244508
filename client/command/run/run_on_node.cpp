#include "headrace/client/command/run/run_on_node.hpp"

#include "headrace/client/command/run/run_directory.hpp"
#include "headrace/client/command/run/run_ranks.hpp"
#include "headrace/client/command/run/run_servers.hpp"
#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/command/status/service_watch.hpp"
#include "headrace/client/drain_worker.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/base/ids.hpp"
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

namespace headrace::detail::command {
namespace {

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

/// The remedy, for messages, if two runs were given the same directory or address.
constexpr const char* one_each = "give each run a directory or a port of its own (--rendezvous)";

void say(const std::string& text) { std::fprintf(stderr, "headrace run: %s\n", text.c_str()); }

class node_run {
public:
  /// `process`: a random number that identifies this process and its guarding parent together (see
  /// `run_guarded`). `signals`: the descriptor that `run_guarded` passes to its body.
  node_run(const run_options& options, std::string process, int signals)
    : options_(options),
      process_(std::move(process)),
      directory_(options.directory, options.rank.name()),
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

  /// Records that the rank has ended. There are two processes, the child that runs this class and
  /// its guarding parent (`run_guarded`): when one of them is killed, this function is called in
  /// the other.
  static void was_killed(const run_options& options, const std::string& process) {
    if (options.directory.empty() || options.command.empty())
      return;
    const run_directory directory{options.directory, options.rank.name()};
    const std::lock_guard guard{notes_};
    killed_ = true;
    if (const auto now = directory.service(); now && *now)
      (void)directory.write(options.rank.rank, {"ended", host_name(), options.workers, process},
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
      if (const auto how = directory_.write(options_.rank.rank,
                                            {state, host_, options_.workers, process_}, token_);
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
    if (!stopped_because_.empty())
      return static_cast<int>(exit_code::cannot_connect);
    const auto how = end();
    if (servers_.stop_signal() != 0)
      return 128 + servers_.stop_signal();
    return how.ok() ? code : fail(how);
  }

  int fail(const status& why) {
    if (servers_.stop_signal() != 0)
      return 128 + servers_.stop_signal();
    if (why.message() != servers_.failed().message()) // `servers_` has printed it
      say(why.message());
    return static_cast<int>(exit_code_of(why));
  }

  /// Starts the servers of this process. When it returns, everything that the command needs is
  /// running.
  status begin() {
    const auto until = clock::system().now() + options_.start_timeout;
    HEADRACE_ASSIGN(here_, node::process(service_node(node_role::tool, options_.tls)));
    HEADRACE_TRY(leads() ? start_dispatcher(until) : find_service(until));
    if (!leads())
      // The interval is so short that several requests fit into `lost_timeout`. So a silence of the
      // dispatcher for that time is detected.
      watch_.emplace(local_,
                     std::clamp<duration>(options_.lost_timeout / 4, std::chrono::milliseconds{10},
                                          std::chrono::seconds{8}));
    HEADRACE_TRY(claim());
    HEADRACE_TRY(start_workers());
    return has_rank() ? await_ranks(until) : status{};
  }

  status start_dispatcher(time_point until) {
    std::string before;
    if (by_directory()) {
      HEADRACE_ASSIGN(const auto there, directory_.service());
      if (const auto doubts = directory_.doubts(); !doubts.empty())
        say(doubts);
      if (there && get_service_status(there->address, std::chrono::seconds{1})) {
        directory_.dispute(there->token);
        return already_exists(
          fmt::format("{} is that of another run, with the service at {} (host {}); {}",
                      directory_.file(), there->address, there->host, one_each));
      }
      before = there ? there->token : "";
    } else if (!options_.service.empty()) {
      if (const auto there = get_service_status(options_.service, std::chrono::seconds{1}))
        return already_exists(fmt::format("at {} is the service of another run, with {} worker{}; "
                                          "{}",
                                          options_.service, there->workers.size(),
                                          there->workers.size() == 1 ? "" : "s", one_each));
    }
    HEADRACE_ASSIGN(service_, servers_.start_dispatcher(options_, until));
    // Processes of this host might be unable to reach the dispatcher at its advertised address, so
    // they connect to its address on this host.
    const auto port = parse_address(service_).value().port;
    local_ = host_and_port(host_from_here(options_.host), port);
    token_ = to_hex(random_id());
    if (!by_directory())
      return {};
    const auto how = directory_.publish({service_, host_, token_}, before);
    if (how.code() != status_code::already_exists)
      return how;
    if (const auto there = directory_.service(); there && *there)
      directory_.dispute((*there)->token);
    return already_exists(fmt::format("{}; {}", how.message(), one_each));
  }

  /// Records in the directory that this process has the rank; an error if another process has it.
  status claim() {
    if (!by_directory() || !has_rank())
      return {};
    const auto how =
      directory_.claim(options_.rank.rank, {"running", host_, options_.workers, process_}, token_);
    if (how.code() != status_code::already_exists)
      return how;
    directory_.dispute(token_);
    return already_exists(fmt::format("{}: it is another run, or two processes have this rank; {}",
                                      how.message(), one_each));
  }

  /// For a process without a rank: the run in the directory to which it adds its workers; unset: no
  /// run has begun yet.
  result<std::optional<run_directory>> run_to_help() const {
    std::vector<run_directory> live;
    for (const auto& one : directory_.runs())
      if (const auto there = one.service();
          there && *there && get_service_status((*there)->address, std::chrono::seconds{1}))
        live.push_back(one);
    // If the directory has several runs, the run of this process's own job is used.
    if (std::ranges::count_if(live, [&](const auto& x) { return x.is_of(options_.rank.job); }) == 1)
      std::erase_if(live, [&](const auto& x) { return !x.is_of(options_.rank.job); });
    if (live.size() > 1) {
      std::vector<std::string> names;
      for (const auto& x : live) names.push_back(x.file());
      return failed_precondition(fmt::format("{} has several runs: {}; {}", directory_.path(),
                                             fmt::join(names, ", "), one_each));
    }
    return live.empty() ? std::nullopt : std::optional{live.front()};
  }

  rival rival_in(const service_status& now) const {
    if (by_directory() || alone() || !has_rank())
      return {};
    return rival_of(now, options_.rank.rank, process_, clock::system().now() - begin_,
                    !options_.work_dir.empty());
  }

  status rank_is_taken(const rival& by) const {
    return already_exists(fmt::format(
      "rank {} of the run with the service at {} has come already, with a worker at {}: it is "
      "another run, or two processes have this rank; {}",
      options_.rank.rank, service_, by.address, one_each));
  }

  /// Prints what the run waits for: once, after 20 s or a quarter of `start_timeout`, whichever is
  /// less.
  void note_waiting(const std::string& what) {
    constexpr duration enough = std::chrono::seconds{20};
    if (waits_noted_
        || clock::system().now() - begin_ < std::min(enough, options_.start_timeout / 4))
      return;
    waits_noted_ = true;
    say(fmt::format("it waits for {} (for {} at most: --start-timeout)", what,
                    duration_text(options_.start_timeout)));
  }

  status find_service(time_point until) {
    constexpr auto long_enough_to_replace = std::chrono::seconds{15};
    const auto begin = clock::system().now();
    std::string seen = "there is no " + directory_.file();
    if (options_.directory.find('/') == std::string::npos)
      seen += fmt::format(" ({} is a directory here; an address would be {}:PORT)",
                          options_.directory, options_.directory);
    rival other;
    const auto found = servers_.wait(until, [&]() -> result<bool> {
      note_waiting("the dispatcher of rank 0: " + seen);
      if (by_directory()) {
        if (!has_rank()) {
          HEADRACE_ASSIGN(const auto run, run_to_help());
          if (!run)
            return false;
          directory_ = *run;
        }
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
          // A killed run may have left this record, and rank 0 may be about to replace the record.
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
      else
        other = rival_in(*answer);
      if (other.lives)
        return rank_is_taken(other);
      return answer.ok() && other.address.empty();
    });
    local_ = service_;
    if (found && !*found && !other.address.empty())
      return rank_is_taken(other);
    if (found && !*found)
      return deadline_exceeded(
        fmt::format("the dispatcher of rank 0 did not come within --start-timeout ({}): {}",
                    duration_text(options_.start_timeout), seen));
    return found.status();
  }

  status start_workers() {
    std::vector<std::string> tags{has_rank() ? tag_of_rank(options_.rank.rank) : "no-command"};
    if (has_rank() && !by_directory() && !alone())
      tags.push_back(tag_of_process(process_));
    for (int i = 0; i < options_.workers; ++i)
      HEADRACE_TRY(servers_.start_worker(options_, local_, tags));
    return {};
  }

  /// The recorded progress of the ranks; unset if they meet at an address and not in a directory.
  std::optional<std::map<int, run_progress>> records_of_ranks() const {
    return by_directory() ? std::optional{directory_.progress(options_.rank.size, token_)}
                          : std::nullopt;
  }

  status await_ranks(time_point until) {
    missing_ranks missing;
    bool helpless = false;
    const auto come = servers_.wait(until, [&]() -> result<bool> {
      if (!missing.ranks.empty())
        note_waiting(ranks_text(missing.ranks));
      HEADRACE_TRY(servers_.failed());
      missing = {};
      if (by_directory()) {
        HEADRACE_ASSIGN(const auto there, directory_.service());
        if (!there)
          return unavailable("rank 0 has ended meanwhile");
        if (there->token != token_)
          return aborted(
            fmt::format("{} is that of another run by now; {}", directory_.file(), one_each));
        if (directory_.disputed(token_))
          return aborted(fmt::format("another run came to {} while this one was to begin, so that "
                                     "it is not certain which processes belong together; {}",
                                     directory_.file(), one_each));
      }
      const auto now = get_service_status(local_, std::chrono::seconds{1});
      if (!now) {
        missing.about = now.status().message();
        return false;
      }
      if (const auto other = rival_in(*now); other.lives)
        return rank_is_taken(other);
      const auto records = records_of_ranks();
      if (records)
        if (const auto own = records->find(options_.rank.rank);
            own != records->end() && own->second.process != process_)
          return aborted(fmt::format("another process has come as rank {} of the run in {}; {}",
                                     options_.rank.rank, directory_.file(), one_each));
      missing =
        missing_at_begin(*now, options_.rank, options_.workers, records ? &*records : nullptr);
      // If the nodes of the run start no workers, processes without a command have to add them.
      helpless = by_directory() && missing.ranks.empty()
                 && std::ranges::none_of(now->workers, &worker_status::alive);
      return missing.ranks.empty() && !helpless;
    });
    if (come && !*come && helpless)
      return deadline_exceeded(
        fmt::format("the nodes have no workers (--workers-per-node 0), and no others came within "
                    "--start-timeout ({})",
                    duration_text(options_.start_timeout)));
    if (come && !*come && missing.ranks.empty())
      return deadline_exceeded(fmt::format("the service did not answer: {}", missing.about));
    if (come && !*come)
      return deadline_exceeded(fmt::format("{} of {} did not come within --start-timeout ({}){}",
                                           ranks_text(missing.ranks), options_.rank.size,
                                           duration_text(options_.start_timeout), missing.about));
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
    return servers_
      .run(*child, options_.stop_timeout, [this] { return stopped_because_ = why_lost(); })
      .as_exit_code();
  }

  /// The reason why this process no longer has a service; empty if it has one.
  std::string why_lost() const {
    // When rank 0 ends, it deletes the file of the service, and its dispatcher ends. So if the
    // dispatcher has been silent for this time, and the file is gone, the service has ended.
    constexpr auto long_enough_with_the_file_gone = std::chrono::seconds{5};
    if (leads())
      return servers_.without_dispatcher() ? "it has no dispatcher" : "";
    const auto silent = watch_->silent_for();
    const auto limit = options_.lost_timeout;
    if (silent < std::min<duration>(limit, long_enough_with_the_file_gone))
      return "";
    if (silent >= limit)
      return fmt::format("the dispatcher of rank 0 at {} has not answered for {} (--lost-timeout)",
                         service_, duration_text(limit));
    bool over = false;
    if (by_directory())
      if (const auto there = directory_.service())
        over = !*there || (*there)->token != token_
               || directory_.progress(1, token_)[0].state == "ended";
    return over ? fmt::format("rank 0 has ended, and the dispatcher at {} with it", service_) : "";
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
    // Processes of this node that start no workers may read from the workers of this process. So
    // their commands must have ended before these workers are drained.
    if (by_directory() && options_.workers > 0 && options_.rank.local_size > 1)
      HEADRACE_TRY(await_ends(
        until,
        [this](int, const run_progress* x) {
          return x != nullptr && x->host == host_ && x->workers == 0;
        },
        "done"));
    drain(
      [tag = tag_of_rank(options_.rank.rank)](const worker_status& x) { return has_tag(x, tag); });
    return {};
  }

  /// Waits until each other rank for which `which` returns true is in the state `state`, has ended,
  /// or is lost.
  status await_ends(time_point until, const unended_ranks::question& which,
                    const std::string& state) {
    unended_ranks looks;
    std::vector<int> missing;
    const auto over = servers_.wait(until, [&]() -> result<bool> {
      missing.clear();
      if (!leads() && !why_lost().empty())
        return true;
      const auto at = clock::system().now();
      const auto now = get_service_status(local_, std::chrono::seconds{1});
      const auto records = records_of_ranks();
      missing = looks.look(now ? &*now : nullptr, records ? &*records : nullptr, options_.rank,
                           which, state, at);
      return missing.empty();
    });
    if (over && !*over)
      return aborted(fmt::format("the command of {} of {} had not ended within --end-timeout ({})",
                                 ranks_text(missing), options_.rank.size,
                                 duration_text(options_.end_timeout)));
    return over.status();
  }

  /// Drains the workers for which `which` returns true, all at the same time.
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

  /// For a process without a command: waits until its workers have ended. The process of rank 0
  /// drains them.
  int serve() {
    std::string lost;
    while (servers_.stop_signal() == 0 && servers_.running_workers() > 0 && lost.empty()) {
      servers_.turn();
      lost = why_lost();
    }
    if (servers_.stop_signal() != 0)
      return static_cast<int>(exit_code::ok);
    if (!lost.empty())
      return fail(unavailable(lost));
    return servers_.failed().ok() ? static_cast<int>(exit_code::ok) : fail(servers_.failed());
  }

  // `was_killed` writes the last record of the rank: after that, `note` writes no record.
  static inline std::mutex notes_;
  static inline bool killed_ = false;

  const run_options& options_;
  std::string process_;
  run_directory directory_;
  std::string host_;
  const time_point begin_ = clock::system().now();
  bool waits_noted_ = false;
  run_servers servers_;
  std::shared_ptr<node> here_; ///< the node for requests to the service, with the TLS files
  std::string service_;        ///< the address of the service for other processes
  std::string local_;          ///< the address of the service for this process
  std::string token_;
  std::optional<service_watch> watch_; ///< set unless this process leads
  std::string stopped_because_;        ///< why the command was stopped (`why_lost`); else empty
  std::stop_source stop_;
  std::atomic<bool> drained_ = false;
};

} // namespace

int run_on_node(const run_options& options) {
  const auto process = to_hex(random_id());
  return run_guarded(
    [&](int signals) {
      return node_run{options, process, signals}.run();
    },
    [&] { node_run::was_killed(options, process); });
}

} // namespace headrace::detail::command
