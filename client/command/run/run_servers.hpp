#pragma once

#include "headrace/client/command/run/passed_signals.hpp"
#include "headrace/client/command/run/run_on_node.hpp"
#include "headrace/client/command/run/signal_witness.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/process/child_process.hpp"

#include <functional>
#include <list>
#include <optional>
#include <string>

namespace headrace::detail::command {

/// The servers that one process of a run starts. The object also handles the signals to this
/// process, and waits for events. The output of the servers goes to standard error.
///
/// The object must be made before the process has a second thread, and only its first thread may
/// use the object.
class run_servers {
public:
  /// `signals`: the descriptor from which the signals to the guarding parent can be read.
  explicit run_servers(int signals);
  ~run_servers();
  run_servers(const run_servers&) = delete;
  run_servers& operator=(const run_servers&) = delete;

  /// Starts the dispatcher. Returns its advertised address when it listens.
  result<std::string> start_dispatcher(const run_options& options, time_point until);
  status start_worker(const run_options& options, const std::string& dispatcher,
                      const std::vector<std::string>& tags);
  size_t running_workers() const;
  /// The first unexpected end of a server: the status code follows from the server's exit code, and
  /// the message was printed already. Ok: no server has ended unexpectedly.
  const status& failed() const noexcept { return failed_; }

  /// Polls `what` until it returns true or an error. Returns false when `until` has passed, and
  /// `cancelled` after a signal to stop.
  result<bool> wait(time_point until, const std::function<result<bool>()>& what);
  /// Waits for a short time, handles signals, and passes on the output of the servers.
  void turn();
  /// Waits for the end of the command. Signals are passed on to it (`passed_signals`). It is killed
  /// `limit` after the first signal to stop, or at once by a second such signal. When `why_stop`
  /// returns a reason, the reason is printed, and the command is sent SIGTERM, and SIGKILL after
  /// `limit`.
  process_end run(child_process& command, duration limit,
                  const std::function<std::string()>& why_stop);
  /// True if the dispatcher that was started by this object has ended unexpectedly.
  bool without_dispatcher() const noexcept { return without_dispatcher_; }
  /// The first signal to stop; 0: none.
  int stop_signal() const noexcept { return signal_; }

  /// Ends the workers, and then the dispatcher.
  void stop();

private:
  struct server {
    std::string name;
    std::optional<child_process> process;
    std::string listens; ///< the address on its first line of output
    bool reads = true;
  };

  status start(const std::string& name, std::vector<std::string> argv,
               std::vector<std::string> environment = {});
  void handle_signal(int signal, passed_signals::place where);
  void read_signals();
  void pass_signals();
  void read_lines(server& of);
  void reap();
  void stop(const std::function<bool(const server&)>& which);

  std::list<server> servers_;
  child_process* command_ = nullptr;
  std::optional<time_point> kill_at_;
  duration command_limit_{};
  status failed_;
  bool without_dispatcher_ = false;
  bool stopping_ = false;
  int signal_ = 0;
  int signals_ = -1; ///< the descriptor for signals to this process
  int of_guard_;     ///< the descriptor for signals to the guarding parent (`run_guarded`)
  std::optional<signal_witness> witness_;
  passed_signals passed_;
  bool stop_seen_ = false;
};

} // namespace headrace::detail::command
