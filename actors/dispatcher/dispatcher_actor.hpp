#pragma once

#include "headrace/actors/dispatcher/dispatcher_core.hpp"
#include "headrace/actors/dispatcher/dispatcher_options.hpp"
#include "headrace/actors/dispatcher/job_keeper.hpp"
#include "headrace/actors/dispatcher/status_report.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/actors/store/step_queue.hpp"
#include "headrace/runtime/caf/alarm.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/supervision/supervisor.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::detail {

/// The actor of the dispatcher, to which the node's supervisor passes messages. It turns them into
/// events for the core, carries out the core's commands, supervises the actors of jobs, and keeps
/// the handles of workers and one timer.
class dispatcher_state {
public:
  using handle_type =
    port::handle<caf::result<envelope>(envelope), caf::result<void>(atom::stored, uint64_t, bool),
                 caf::result<void>(atom::deadline, uint64_t),
                 caf::result<void>(atom::supervise, uint64_t)>;
  static inline const char* name = "headrace.dispatcher";

  dispatcher_state(port::self_pointer<handle_type> self, dispatcher_options options,
                   job_factory jobs, tree_place place, logger log);
  port::behavior<handle_type> make_behavior();

private:
  /// The sender of a request that is not answered yet.
  struct asker {
    envelope what;
    published_actor sender; ///< null: the sender expects no answer
    caf::typed_response_promise<envelope> answer;
    port::watcher::token watch = 0;
  };
  struct known_worker {
    published_actor handle;
    port::watcher::token watch = 0;
  };

  caf::result<envelope> receive(const envelope& in);
  /// Calls `event`, which passes an event to the core with a token for the request `in`. Carries
  /// out the commands that the core returns.
  template <class Event>
  caf::result<envelope> decide(const envelope& in, Event&& event);
  caf::result<envelope> get_status(const envelope& in);
  envelope status_with(uint64_t request, std::vector<envelope> jobs) const;

  static job_id job_named(const std::string& child);
  job_handle actor_of(job_id id) const;
  result<caf::actor> start_job(job_id id);
  job_remains left_of(job_id id) const;

  using step = dispatcher_commands::value_type;

  void carry_out(dispatcher_commands commands);
  void take(const step& x);
  void carry_out(const dispatcher_command::store& x);
  void after_storing(uint64_t group, bool kept);
  void carry_out(const dispatcher_command::answer& x);
  void carry_out(const dispatcher_command::to_job& x);
  void carry_out(const dispatcher_command::run_job& x);
  void carry_out(const dispatcher_command::drop_job& x);
  void carry_out(const dispatcher_command::worker_changed& x);
  void carry_out(const dispatcher_command::keep_worker& x);
  void carry_out(const dispatcher_command::drop_worker& x);
  void carry_out(const dispatcher_command::keep_report& x);
  void carry_out(const dispatcher_command::stop_task& x);
  void carry_out(const dispatcher_command::offer_saves& x);
  void carry_out(const dispatcher_command::watch_asker& x);
  void carry_out(const dispatcher_command::log& x);
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  dispatcher_options options_;
  job_factory jobs_;
  logger log_;
  port::watcher watcher_;
  tree_place place_;
  supervisor team_;
  fact_store<service_record>::tenure tenure_; ///< its record was moved into `core_`
  dispatcher_core core_;
  step_queue<step> steps_;
  std::map<request_token, asker> askers_;
  uint64_t last_token_ = 0;
  std::map<worker_id, known_worker> workers_;
  worker_reports reports_;
  std::map<job_id, job_keeper> keepers_;
  port::alarm alarm_;
  counter& bad_messages_; ///< the node's counter, which the node increases, too
  bool ending_ = false;   ///< the actor is stopping its jobs, and will end
  time_point started_;
};

} // namespace headrace::detail
