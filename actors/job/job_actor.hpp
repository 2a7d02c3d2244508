#pragma once

#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/actors/store/fact_store.hpp"
#include "headrace/runtime/caf/alarm.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace headrace {

/// Carries out what one job's core decides: turns messages into events and commands into messages,
/// and keeps the handles of readers and workers and one timer.
class job_state {
public:
  using handle_type = job_handle;
  static inline const char* name = "headrace.job";

  /// `store` outlives the actor: the next one goes on where this one was. `present`: the workers
  /// that are alive.
  job_state(port::self_pointer<handle_type> self, job_description about,
            std::shared_ptr<fact_store<job_record>> store,
            const std::vector<worker_change>& present, logger log);
  port::behavior<handle_type> make_behavior();

private:
  /// Who waits for the answer to a request.
  struct asker {
    uint64_t request = 0;
    caf::typed_response_promise<envelope> answer;
  };

  caf::result<envelope> receive(const envelope& in);
  /// Does `event` with a token for the request `in`, and what follows from it.
  template <class Event>
  caf::result<envelope> decide(const envelope& in, Event&& event);
  envelope report(const envelope& in) const;

  void carry_out(const job_commands& commands);
  void carry_out(const job_command::store& x);
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
  logger log_;
  job_core core_;
  std::map<worker_id, published_actor> workers_;
  std::map<std::pair<uint64_t, consumer_id>, published_actor> readers_; ///< by repetition, too
  std::map<request_token, asker> askers_;
  uint64_t last_token_ = 0;
  port::alarm alarm_;
};

} // namespace headrace
