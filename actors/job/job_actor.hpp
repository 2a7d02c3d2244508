#pragma once

#include "headrace/actors/dispatcher/dispatcher_options.hpp"
#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/actors/store/fact_store.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/lease/lease_table.hpp"
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
  buffer graph; ///< a Graph message
  std::string fingerprint;
  dispatcher_options options;
  /// Outlives the actor: the next one goes on where this one was.
  std::shared_ptr<fact_store<job_core>> store;
};

/// Decides for one job: which worker has which task, who gets which splits, when a repetition is
/// over. What it decides are facts, which are stored before they are acted on; one that is started
/// again takes them from there, and what is not stored (who is heard of, who waits for splits) is
/// told again by workers and consumers.
class job_state {
public:
  using handle_type = job_handle;
  static inline const char* name = "headrace.job";

  job_state(port::self_pointer<handle_type> self, job_description about,
            std::vector<worker_change> present, logger log);
  port::behavior<handle_type> make_behavior();

private:
  using repetition = job_core::repetition;
  enum class graph_is { sent, left_out };
  /// What is not stored of a repetition.
  struct connected {
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

  /// Goes on where an earlier actor was.
  void take_over();
  /// Stores the facts, then holds them. Throws if they cannot be stored: this actor ends then.
  void commit(const std::vector<job_core::fact>& facts);
  repetition& begin(uint64_t number);
  repetition* of_task(task_id id);
  /// `before`: facts that hold with the decision's, or not at all.
  void carry_out(repetition& r, const iteration::decision& decided,
                 std::vector<job_core::fact> before = {});
  void start(repetition& r, const iteration::task& what);
  void start(repetition& r, const iteration::task& what, graph_is how);
  void announce(repetition& r);
  /// A task left, and gives these back.
  /// A task's pipeline is done with a pass of a source.
  void close(repetition& r, task_id id, schema::UnreadSplits::Reader what);
  void left(repetition& r, task_id id, incarnation life, iteration::output made,
            capnp::List<schema::UnreadSplits>::Reader unread);
  /// What may be left to do; `given_back`: by the task that is spoken of.
  job_remainder rest_of(const repetition& r, bool given_back = false) const;
  /// Answers the waiting lease requests that can be answered now.
  void settle(repetition& r);
  void drop_requests(uint64_t number, task_id of);
  void remove(repetition& r, consumer_id who);
  bool is_read() const;
  void end_if_unused();
  /// Gives up repetitions that nobody came back to.
  void cancel_idle();
  /// Frees what is over.
  void forget_spent();
  void arm();
  envelope iteration_answer(const repetition& r, uint64_t request) const;
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  job_description about_;
  logger log_;
  std::map<worker_id, worker_change> workers_;
  job_core core_;
  std::map<uint64_t, connected> connected_; ///< by repetition
  lease_table<std::pair<uint64_t, consumer_id>> readers_heard_;
  /// When an earlier actor was taken over from: whoever is not heard of for a lease is lost.
  std::optional<time_point> missing_at_;
  uint64_t armed_ = 0;
};

} // namespace headrace
