#pragma once

#include "headrace/actors/dispatcher/dispatcher_options.hpp"
#include "headrace/actors/job/iteration.hpp"
#include "headrace/actors/job/split_assigner.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace {

/// What a job is, for as long as it lives.
struct job_description {
  job_id id;
  std::string name; ///< empty: anonymous, ends with its consumer
  std::string dataset_id;
  processing_mode mode = processing_mode::off;
  buffer graph;      ///< a Graph message
  split_plan splits; ///< of its sources
  dispatcher_options options;
};

/// Decides for one job: which worker has which task, who gets which splits, when a repetition is
/// over.
class job_state {
public:
  using handle_type = job_handle;
  static inline const char* name = "headrace.job";

  job_state(port::self_pointer<handle_type> self, job_description about,
            std::vector<worker_change> present, logger log);
  port::behavior<handle_type> make_behavior();

private:
  /// A repetition with what only the actor needs to know of it.
  struct running {
    iteration core;
    split_assigner splits;
    uint64_t seed = 0;
    std::map<consumer_id, published_actor> readers;
    /// Lease requests that wait until other tasks have read what they hold.
    struct waiting {
      lease_request what;
      uint64_t request = 0;
      caf::typed_response_promise<envelope> answer;
    };
    std::vector<waiting> leases;
    time_point idle_since{};
  };

  caf::result<envelope> answer(const envelope& in);
  envelope open(const envelope& in);
  envelope renew(const envelope& in);
  envelope leave(const envelope& in);
  caf::result<envelope> lease(const envelope& in);
  envelope ended(const envelope& in);
  envelope report(const envelope& in) const;
  void on_worker(const worker_change& change);
  void on_deadline();

  running& repetition(uint64_t number);
  running* of_task(task_id id);
  void carry_out(running& r, iteration::commands todo);
  void start(running& r, const iteration::task& what);
  void announce(running& r);
  /// Answers the waiting lease requests that can be answered now.
  void settle(running& r);
  void remove(running& r, consumer_id who);
  void end_if_unused();
  void arm();
  envelope iteration_answer(const running& r, uint64_t request) const;
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  job_description about_;
  logger log_;
  std::map<worker_id, worker_change> workers_;
  std::map<uint64_t, std::unique_ptr<running>> repetitions_;
  uint64_t armed_ = 0;
};

} // namespace headrace
