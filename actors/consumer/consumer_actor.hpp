#pragma once

#include "headrace/actors/consumer/consumer_options.hpp"
#include "headrace/actors/consumer/credit.hpp"
#include "headrace/actors/consumer/link_pool.hpp"
#include "headrace/actors/dispatcher/worker_table.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/actors/stream/handout.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/node/peer.hpp"
#include "headrace/schemas/stream.capnp.h"

#include <map>
#include <memory>

namespace headrace {

/// Reads one repetition of a job for a trainer: keeps in touch with the dispatcher, opens a stream
/// to each task, grants credit as the trainer takes elements, gives back what is recalled. The
/// trainer meets it at the handout.
class consumer_state {
public:
  using handle_type = consumer_handle;
  static inline const char* name = "headrace.consumer";

  consumer_state(port::self_pointer<handle_type> self, consumer_options options, address dispatcher,
                 connector_actor connector, std::shared_ptr<link_pool> links,
                 std::shared_ptr<handout> out, logger log);
  ~consumer_state();
  port::behavior<handle_type> make_behavior();

private:
  /// One task as this consumer reads it.
  struct stream {
    incarnation life;
    std::string address;
    std::shared_ptr<link> over; ///< null while connecting
    uint32_t channel = 0;
    stream_credit credit;
    bool opened = false; ///< at least once
    bool ended = false;
    bool lost = false;                              ///< its job gave it up
    bool leaving = false;                           ///< it gives what it has as fast as it may
    duration pause = std::chrono::milliseconds{10}; ///< before the next attempt to connect
    status unreached;                               ///< why the last one failed, or what cut it off
  };

  /// Asks the dispatcher for the iteration, again while what should answer is being restarted.
  void ask_anew();
  void ask();
  /// `passes`: it may know when it is asked again.
  void not_told(const status& why, bool passes);
  void apply(schema::Iteration::Reader state);
  void on(const link_made& what);
  void on(const block_arrived& what);
  void on(const link_lost& what);
  void on(const trainer_moved& what);
  void on(const trainer_leaves& what);
  void on(const ask_again& what);
  void open(task_id id, stream& s);
  void accept(task_id id, stream& s, const link_message& carrier, schema::StreamBlock::Reader in);
  void reconnect(task_id id, stream& s);
  /// Hears nothing more of a task that its job gave up.
  void drop(stream& s);
  /// What arrived cannot be read. It would be no better if it were sent again: the trainer is told.
  void reject(task_id id, stream& s, const status& why);
  /// What the stream may send from here on, and how far we are.
  void grant(const stream& s, const handout::marks& marks, bool waiting) const;
  /// Tells the tasks how far the trainer is, where that is worth a message.
  void refill(bool always);
  /// How many bytes the trainer may take before that is worth a look.
  uint64_t quiet_bytes() const;
  void conclude();
  void fail(const status& why);
  void beat();
  /// Why nothing was read for as long as the trainer wants to wait.
  status not_served() const;
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  consumer_options options_;
  std::shared_ptr<link_pool> links_;
  std::shared_ptr<handout> out_;
  logger log_;
  uint64_t bad_messages_ = 0; ///< damaged ones that reached it
  consumer_id id_;
  job_id job_;
  bool known_ = false; ///< the dispatcher told us our job
  bool finished_ = false;
  bool over_ = false;
  bool failed_ = false; ///< the trainer is told why, after what it has got
  bool shared_ = false;
  uint64_t version_ = 0;
  uint64_t asks_ = 0; ///< counts the questions; only the last one's answer is heard
  time_point asking_since_;
  duration ask_pause_{};
  lease_timing timing_;
  std::map<task_id, stream> streams_;
  std::map<std::pair<const link*, uint32_t>, task_id> by_channel_;
  uint64_t beats_ = 0;
  time_point without_worker_since_;
  status unreachable_;
  port::watcher watcher_;
  peer dispatcher_;
};

} // namespace headrace
