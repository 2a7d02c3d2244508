#pragma once

#include "headrace/actors/consumer/consumer_memory.hpp"
#include "headrace/actors/consumer/link_pool.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/runtime/caf/alarm.hpp"
#include "headrace/runtime/node/peer.hpp"

#include <memory>

namespace headrace::detail {

/// The actor of one consumer: turns messages of the dispatcher, the job and the trainer into events
/// for its core, and carries out the core's commands. Messages of tasks are handled by the threads
/// of the links (`take_message`). The trainer's thread takes rows from the handout, and handles
/// that event itself, unless its blocks are small (`take_trainer_moved`).
class consumer_state {
public:
  using handle_type = consumer_handle;
  static inline const char* name = "headrace.consumer";

  /// `memory`: new, not used by another consumer.
  consumer_state(port::self_pointer<handle_type> self, std::shared_ptr<consumer_memory> memory,
                 consumer_options options, address dispatcher, connector_actor connector,
                 std::shared_ptr<link_pool> links, std::shared_ptr<handout> out, logger log);
  ~consumer_state();
  port::behavior<handle_type> make_behavior();

private:
  void on(const link_made& what);
  void on(const stream_work_left& what);
  void on(const trainer_leaves& what);

  /// Calls `event` with the core, and carries out the commands: first those that other threads have
  /// left, then the new ones. `fresh`: the link on which the event opens streams.
  template <class Event>
  void handle(Event&& event, const std::shared_ptr<link>& fresh = {});
  /// Decodes the next event of the inbox, if it has to be decoded, and handles some events.
  void decode_next();
  /// Handles all events that have arrived, so that a message of the dispatcher about a task does
  /// not overtake earlier blocks of that task that have to be decoded.
  void handle_arrived();
  /// Sends a request to the dispatcher. Does nothing if there is no connection: when there is one
  /// again, the core returns new commands for the requests that are still needed.
  template <class OnAnswer, class OnError>
  void ask_dispatcher(duration limit, const envelope& question, OnAnswer on_answer,
                      OnError on_error);
  void carry_out(const consume::ask& what);
  void carry_out(const consume::beat& what);
  void carry_out(const consume::say_goodbye& what);
  void carry_out(const consume::quit& what);
  void carry_out(const consume::renew_dispatcher& what);
  void carry_out(const consume::make_link& what);
  void carry_out(const consume::open_stream&) {}  ///< `consumer_memory` has carried this out
  void carry_out(const consume::send&) {}         ///< likewise
  void carry_out(const consume::close_stream&) {} ///< likewise
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  std::shared_ptr<consumer_memory> memory_;
  duration answer_limit_; ///< the limit for answers to `consume::ask`
  duration lease_{};      ///< the lease of the job
  std::shared_ptr<link_pool> links_;
  uint64_t bad_messages_ = 0; ///< number of damaged messages that arrived
  port::alarm alarm_;
  port::watcher watcher_;
  peer dispatcher_;
};

} // namespace headrace::detail
