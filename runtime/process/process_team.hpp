#pragma once

#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/process/child_process.hpp"
#include "headrace/runtime/supervision/core.hpp"

#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail {

/// A program that a team keeps running.
struct team_member {
  std::string id; ///< unique in the team
  restart_policy restart = restart_policy::transient;
  /// The time from a SIGTERM to a SIGKILL.
  duration shutdown = std::chrono::seconds{2};
  /// Returns the program to start. The argument contains the number of restarts and the reason for
  /// the last one. The program's standard output and error are passed to `on_line`; it runs in a
  /// process group of its own, to which signals of the terminal are not sent.
  std::function<child_options(const process_past&)> program;
  /// Called with each line of the program's output.
  std::function<void(const std::string&)> on_line;
  /// Returns true if a restart would not help after this end; the team then ends. May be empty.
  std::function<bool(const process_end&)> is_final;
};

struct team_options {
  std::string path; ///< the path of the supervisor, for messages
  /// The most restarts of all members within `period`.
  uint32_t max_restarts = 5;
  duration period = std::chrono::minutes{1};
  /// The pause before a restart: it doubles, with jitter, as long as each life of the member is
  /// shorter than `period`.
  duration first_pause = std::chrono::milliseconds{100};
  duration longest_pause = std::chrono::seconds{10};
  /// The number of last lines of each member that are kept for the message about its end.
  size_t last_lines = 5;
  /// Called when a member has ended unexpectedly. May be empty.
  std::function<void(const std::string& id, const process_end&)> on_end;
};

/// How a team ended.
struct team_end {
  status why;                     ///< ok: the team was requested to stop
  std::string member;             ///< the member that could not be kept running
  process_end last;               ///< the last end of that member
  std::vector<std::string> lines; ///< the last lines of that member's output
};

/// Child processes under one supervisor. The end of a child is detected at once, by SIGCHLD, and
/// handled as a supervision_core decides. The children are killed when this process ends, even if
/// this process is killed.
///
/// SIGTERM, SIGINT and SIGHUP stop the team: all members except the first are requested to end, and
/// then the first one. A second signal kills them.
///
/// The object must be made in the main thread before there are other threads, and only that thread
/// may use it. From its construction on, the object handles these signals, and SIGCHLD.
class process_team {
public:
  explicit process_team(team_options options);
  ~process_team();
  process_team(const process_team&) = delete;
  process_team& operator=(const process_team&) = delete;

  /// Adds and starts a member. A failed start counts as its end. May be called from `on_line`.
  /// `already_exists`: the id is taken; `failed_precondition`: the team is stopping.
  status add(team_member what);
  /// Runs until the team has ended; then it has no children.
  team_end run();

private:
  struct member {
    team_member about;
    std::optional<child_process> child;
    uint64_t run = 0; ///< the number of the member's present life, as counted by the core
    process_past past;
    std::deque<std::string> lines;
    bool reads = false;        ///< the output may have more lines
    bool asked_to_end = false; ///< the present life was requested to end
  };

  member* find(const std::string& id);
  void carry_out(supervise::commands what);
  void carry_out(const supervise::start& x);
  void carry_out(const supervise::stop& x);
  void carry_out(const supervise::kill& x);
  void carry_out(const supervise::abandon&) {}
  void carry_out(const supervise::schedule& x);
  void carry_out(const supervise::drop&) {}
  void carry_out(const supervise::stopped&);
  void carry_out(const supervise::give_up& x);
  void wait();
  void read_lines(member& of);
  void reap();
  void ended(member& who, const process_end& how);
  void failed(member& who, const process_end& how, const status& why);
  void on_signal(int signal);
  static void ask_to_end(member& who);

  team_options options_;
  supervision_core core_;
  std::list<member> members_; ///< in the order in which they were added
  std::deque<supervise::command> pending_;
  bool busy_ = false;
  bool told_ = false; ///< a signal to stop the team has arrived
  bool over_ = false;
  team_end end_;
  std::optional<supervise::schedule> alarm_;
  int signals_ = -1;
};

} // namespace headrace::detail
