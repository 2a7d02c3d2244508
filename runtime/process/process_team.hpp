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

namespace headrace {

/// A program that a team keeps running.
struct team_member {
  std::string id; ///< unique in its team
  restart_policy restart = restart_policy::transient;
  /// From a SIGTERM to a SIGKILL.
  duration shutdown = std::chrono::seconds{2};
  /// What to start: told how often it was started again, and why the last time. What it writes, to
  /// standard output and error, comes to `on_line`; it is in a process group of its own, so that a
  /// signal from the terminal does not reach it.
  std::function<child_options(const process_past&)> program;
  /// A line that it wrote.
  std::function<void(const std::string&)> on_line;
  /// It ended like this, and to start it again would not help: the team ends. May be empty.
  std::function<bool(const process_end&)> is_final;
};

struct team_options {
  std::string path; ///< of the supervisor, for messages
  /// At most so many restarts of all members within `period`.
  uint32_t max_restarts = 5;
  duration period = std::chrono::minutes{1};
  /// The pause before a restart: doubles, with jitter, while the member does not live for a period.
  duration first_pause = std::chrono::milliseconds{100};
  duration longest_pause = std::chrono::seconds{10};
  size_t last_lines = 5; ///< of each member, kept for the message about its end
  /// Told how a member ended, other than as it should. May be empty.
  std::function<void(const std::string& id, const process_end&)> on_end;
};

/// Why a team is over.
struct team_end {
  status why;                     ///< ok: it was told to stop
  std::string member;             ///< that it could not keep running
  process_end last;               ///< how that one ended
  std::vector<std::string> lines; ///< that it wrote last
};

/// Child processes under one supervisor: an end is seen at once, by its signal, and answered as a
/// supervision_core decides. The children die with this process, however it ends.
///
/// SIGTERM, SIGINT and SIGHUP stop the team: all members but the first are asked to end, and when
/// they have ended the first one is. A second one kills them.
///
/// Made in the main thread before there are other threads, which is the only one to use it. From
/// then on these signals, and SIGCHLD, are its own.
class process_team {
public:
  explicit process_team(team_options options);
  ~process_team();
  process_team(const process_team&) = delete;
  process_team& operator=(const process_team&) = delete;

  /// Starts a member. A start that fails is an end like any other. May be called from `on_line`.
  /// `already_exists`: the id is taken; `failed_precondition`: the team stops.
  status add(team_member what);
  /// Works until the team is over; there are no children then.
  team_end run();

private:
  struct member {
    team_member about;
    std::optional<child_process> child;
    uint64_t run = 0; ///< its life, as the core counts
    process_past past;
    std::deque<std::string> lines;
    bool reads = false;        ///< there may be more of them
    bool asked_to_end = false; ///< in this life
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
  bool told_ = false; ///< to stop
  bool over_ = false;
  team_end end_;
  std::optional<supervise::schedule> alarm_;
  int signals_ = -1;
};

} // namespace headrace
