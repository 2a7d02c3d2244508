#pragma once

#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/actors/store/fact_store.hpp"
#include "headrace/actors/store/step_queue.hpp"
#include "headrace/runtime/caf/alarm.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::detail {

/// The actor of one job. It turns messages into events for the job's core, carries out the core's
/// commands, and keeps the handles of readers and workers and one timer.
class job_state {
public:
  using handle_type = job_handle;
  static inline const char* name = "headrace.job";

  /// `store` outlives the actor: the next actor continues with its content. `present`: the workers
  /// that are alive.
  job_state(port::self_pointer<handle_type> self, job_description about,
            std::shared_ptr<fact_store<job_record>> store,
            const std::vector<worker_change>& present, logger log);
  port::behavior<handle_type> make_behavior();

private:
  /// The sender of a request that is not answered yet.
  struct asker {
    uint64_t request = 0;
    caf::typed_response_promise<envelope> answer;
  };

  caf::result<envelope> receive(const envelope& in);
  /// Calls `event`, which passes an event to the core with a token for the request `in`. Carries
  /// out the commands that the core returns.
  template <class Event>
  caf::result<envelope> decide(const envelope& in, Event&& event);
  envelope report(const envelope& in) const;

  /// From now on messages to this reader are sent to this handle.
  struct known_reader {
    uint64_t repetition = 0;
    consumer_id who;
    published_actor handle;
  };
  /// A command of the core, or a change of the handle of a worker or reader. All are carried out in
  /// the order in which they were added.
  using step = std::variant<job_commands::value_type, worker_change, known_reader>;

  void carry_out(job_commands commands);
  /// Adds a step that waits until the facts before it are stored.
  void add(step x);
  void take(const step& x);
  void carry_out(const job_commands::value_type& x);
  void carry_out(const worker_change& x);
  void carry_out(const known_reader& x);
  void carry_out(const job_command::store& x);
  void after_storing(uint64_t group, bool kept);
  void carry_out(const job_command::answer& x);
  void carry_out(const job_command::start_task& x);
  void carry_out(const job_command::stop_task& x);
  void carry_out(const job_command::name_readers& x);
  void carry_out(const job_command::announce& x);
  void carry_out(const job_command::drop_reader& x);
  void carry_out(const job_command::log& x);
  void carry_out(const job_command::ended& x);
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  std::shared_ptr<fact_store<job_record>> store_;
  fact_store<job_record>::tenure tenure_; ///< its record was moved into `core_`
  step_queue<step> steps_;
  logger log_;
  job_core core_;
  std::map<worker_id, published_actor> workers_;
  /// The handles by repetition and consumer.
  std::map<std::pair<uint64_t, consumer_id>, published_actor> readers_;
  std::map<request_token, asker> askers_;
  uint64_t last_token_ = 0;
  port::alarm alarm_;
};

} // namespace headrace::detail
