#pragma once

#include "tests/cluster/processes.hpp"
#include "tests/faults/scenario.hpp"
#include "tests/faults/verdict.hpp"
#include "tests/support/reading_record.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/trainer_orders.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// A service of processes with a relay on every connection, the trainers that read it, and the
/// faults of a scenario. Records and logs are in a folder of its own.
class faulty_service {
public:
  /// Starts the dispatcher and the workers. @pre `folder` exists and is empty
  faulty_service(const scenario& what, std::string folder);
  faulty_service(const faulty_service&) = delete;
  faulty_service& operator=(const faulty_service&) = delete;
  ~faulty_service();

  /// Executes the scenario until the last process has ended, and returns the history.
  told_history run();
  /// The actions and their times, a line each.
  const std::vector<std::string>& story() const noexcept { return story_; }

private:
  struct worker {
    std::string name;
    std::unique_ptr<relay> data = std::make_unique<relay>();
    std::unique_ptr<relay> control; ///< between the worker and the dispatcher
    std::unique_ptr<server_process> process;
    bool killed = false;
    bool told_to_end = false;
  };
  struct trainer {
    std::string name;
    std::unique_ptr<relay> control;
    std::unique_ptr<reading_record> record;
    std::unique_ptr<child_process> process;
    std::optional<size_t> resumed_at;
    bool killed = false;
    bool hung = false;
  };

  worker& add_worker(bool refuses = false);
  void add_trainer();
  void begin_dispatcher();
  /// Environment variables, as `NAME=value`, for the processes at `of`. If the scenario moves the
  /// time of day of these processes, the variables load libfaketime; otherwise there are none.
  std::vector<std::string> environment(place of) const;
  /// Moves the time of day of the processes that have libfaketime: writes `offset` to the file that
  /// they read.
  void set_clock(const std::string& offset);
  void fill_disk(bool full);
  void say(std::string what);
  void befall();
  void heal();
  void roll();
  void end_all();
  void wait_for_trainers();
  void stop_servers();
  void expect_end(const std::string& name, child_process& of);
  /// The relays of the connections that the fault disturbs.
  std::vector<relay*> relays();
  child_process* stopped_process();
  void say_what_came_again();
  told_history history() const;
  bool is_away(duration limit) const;

  const scenario what_;
  const std::string folder_;
  std::string disk_; ///< the folder at which the small disk is mounted; empty: none
  time_point began_;
  std::unique_ptr<server_process> dispatcher_;
  std::deque<worker> workers_;
  std::deque<trainer> trainers_;
  std::vector<told_server> ends_;
  bool dispatcher_over_ = false; ///< the dispatcher was killed, or its end was checked
  time_point broke_at_{};
  std::optional<time_point> healed_at_;
  std::vector<std::string> story_;
};

} // namespace headrace::detail::test
