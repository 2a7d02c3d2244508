#include "headrace/client/command/run/run_on_node.hpp"

#include "headrace/client/command/run/await_ranks.hpp"
#include "headrace/client/command/run/end_rank.hpp"
#include "headrace/client/command/run/find_service.hpp"
#include "headrace/client/command/run/lost_service.hpp"
#include "headrace/client/command/run/rank_record.hpp"
#include "headrace/client/command/run/run_command.hpp"
#include "headrace/client/command/run/run_notices.hpp"
#include "headrace/client/command/run/run_process.hpp"
#include "headrace/client/command/run/run_ranks.hpp"
#include "headrace/client/command/run/start_service.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/guarded.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headrace::detail::command {
namespace {

class node_run {
public:
  /// Takes the arguments of `run_process`.
  node_run(const run_options& options, std::string process, int signals)
    : self_(options, std::move(process), signals) {}

  int run() {
    auto code = go();
    self_.servers.stop();
    if (!self_.options.directory.empty() && !self_.token.empty()) {
      if (self_.leads())
        self_.directory.remove(self_.options.rank.size, self_.token);
      else
        note_rank(self_, "ended");
    }
    return code;
  }

private:
  int go() {
    if (auto how = begin(); !how)
      return fail(how);
    if (!self_.has_rank())
      return serve();
    const auto code = run_command(self_);
    note_rank(self_, "done");
    if (code != 0 || self_.servers.stop_signal() != 0)
      return code;
    if (!self_.stopped_because.empty())
      return static_cast<int>(exit_code::cannot_connect);
    const auto how = end_rank(self_);
    if (self_.servers.stop_signal() != 0)
      return 128 + self_.servers.stop_signal();
    return how.ok() ? code : fail(how);
  }

  int fail(const status& why) {
    if (self_.servers.stop_signal() != 0)
      return 128 + self_.servers.stop_signal();
    if (why.message() != self_.servers.failed().message()) // `self_.servers` has printed it
      say(why.message());
    return static_cast<int>(exit_code_of(why));
  }

  /// Starts the servers of this process. When it returns, everything that the command needs is
  /// running.
  status begin() {
    const auto until = clock::system().now() + self_.options.start_timeout;
    HEADRACE_ASSIGN(self_.here, node::process(service_node(node_role::tool, self_.options.tls)));
    HEADRACE_TRY(self_.leads() ? start_service(self_, until) : find_service(self_, until));
    if (!self_.leads())
      // The interval is so short that several requests fit into `lost_timeout`. So a silence of the
      // dispatcher for that time is detected.
      self_.watch.emplace(self_.local, std::clamp<duration>(self_.options.lost_timeout / 4,
                                                            std::chrono::milliseconds{10},
                                                            std::chrono::seconds{8}));
    HEADRACE_TRY(claim_rank(self_));
    HEADRACE_TRY(start_workers());
    return self_.has_rank() ? await_ranks(self_, until) : status{};
  }

  status start_workers() {
    std::vector<std::string> tags{self_.has_rank() ? tag_of_rank(self_.options.rank.rank)
                                                   : "no-command"};
    if (self_.has_rank() && !self_.by_directory() && !self_.alone())
      tags.push_back(tag_of_process(self_.process));
    for (int i = 0; i < self_.options.workers; ++i)
      HEADRACE_TRY(self_.servers.start_worker(self_.options, self_.local, tags));
    return {};
  }

  /// For a process without a command: waits until its workers have ended. The process of rank 0
  /// drains them.
  int serve() {
    std::string lost;
    while (self_.servers.stop_signal() == 0 && self_.servers.running_workers() > 0
           && lost.empty()) {
      self_.servers.turn();
      lost = why_lost(self_);
    }
    if (self_.servers.stop_signal() != 0)
      return static_cast<int>(exit_code::ok);
    if (!lost.empty())
      return fail(unavailable(lost));
    return self_.servers.failed().ok() ? static_cast<int>(exit_code::ok)
                                       : fail(self_.servers.failed());
  }

  run_process self_;
};

} // namespace

int run_on_node(const run_options& options) {
  const auto process = to_hex(random_id());
  return run_guarded(
    [&](int signals) {
      return node_run{options, process, signals}.run();
    },
    [&] { note_rank_killed(options, process); });
}

} // namespace headrace::detail::command
