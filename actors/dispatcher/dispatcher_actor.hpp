#pragma once

#include "headrace/actors/dispatcher/dispatcher_options.hpp"
#include "headrace/actors/dispatcher/service_record.hpp"
#include "headrace/actors/dispatcher/worker_table.hpp"
#include "headrace/actors/job/job_record.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/supervision/supervisor.hpp"

#include <deque>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headrace {

/// Owns what a service knows: datasets, workers, jobs. Decides about registration and leases,
/// supervises the job actors and hands on to them what concerns one job. The root that a
/// dispatcher's node publishes.
class dispatcher_state {
public:
  using handle_type =
    port::handle<caf::result<envelope>(envelope), caf::result<void>(atom::deadline, uint64_t),
                 caf::result<void>(atom::supervise, uint64_t)>;
  static inline const char* name = "headrace.dispatcher";

  dispatcher_state(port::self_pointer<handle_type> self, dispatcher_options options,
                   tree_place place, logger log);
  port::behavior<handle_type> make_behavior();

private:
  using job = service_record::job;

  caf::result<envelope> answer(const envelope& in);
  envelope register_worker(const envelope& in);
  /// The answer to a worker with another living one's data address.
  envelope refuse(const worker_info& who, const worker_info& other, uint64_t request);
  envelope worker_heartbeat(const envelope& in);
  envelope worker_leaves(const envelope& in);
  envelope register_dataset(const envelope& in);
  envelope get_dataset(const envelope& in);
  caf::result<envelope> open_iteration(const envelope& in);
  caf::result<envelope> to_job(const envelope& in, job_id id);
  /// The answer to a request about a job that is over, has failed or never was.
  envelope without_job(const envelope& in, job_id id) const;
  caf::result<envelope> await_workers(const envelope& in);
  caf::result<envelope> get_status(const envelope& in);

  /// Stores the fact, then holds it. Throws if it cannot be stored: this actor ends then.
  void commit(const service_record::fact& what);
  result<job_id> find_or_start_job(schema::OpenIteration::Reader wanted);
  result<caf::actor> run_job(const job& what);
  static job_id job_named(const std::string& child);
  void job_started(job_id id);
  void job_ended(job_id id, const status& why);
  /// The job is over, for good.
  void forget_job(job_id id, const status& why);
  job_handle actor_of(job_id id) const;
  /// Its lease ended, or another process is in its place.
  void lose(const worker_info& who);
  void forget_worker(const worker_info& who);
  void tell_jobs(const worker_change& change);
  void arm();
  time_point now() const;

  port::self_pointer<handle_type> self_;
  dispatcher_options options_;
  logger log_;
  port::watcher watcher_;
  tree_place place_;
  supervisor team_;
  service_record record_;
  worker_table workers_;
  std::map<worker_id, published_actor> worker_handles_;
  std::map<worker_id, port::watcher::token> worker_watches_; ///< of these
  incarnation last_refused_;
  std::map<job_id, std::shared_ptr<memory_store<job_record>>> job_stores_;
  struct held {
    envelope what;
    caf::typed_response_promise<envelope> answer;
  };
  std::map<job_id, std::vector<held>> held_; ///< while their job's actor is started again
  std::map<worker_id, envelope> last_heartbeats_;
  std::map<worker_id, buffer> trees_;                 ///< SupervisionTree messages, as last told
  std::deque<std::pair<job_id, status>> failed_jobs_; ///< the latest
  struct awaiting {
    uint32_t workers = 0;
    uint64_t request = 0;
    caf::typed_response_promise<envelope> answer;
    port::watcher::token asker = 0;
  };
  std::list<awaiting> awaiting_;
  uint64_t armed_ = 0;
  uint64_t bad_messages_ = 0;
  time_point started_;
};

} // namespace headrace
