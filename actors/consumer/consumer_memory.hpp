#pragma once

#include "headrace/actors/consumer/consumer_core.hpp"
#include "headrace/actors/consumer/consumer_inbox.hpp"
#include "headrace/runtime/link/link.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::detail {

/// The part of a consumer that its actor shares with the threads of its links and with the
/// trainer's thread: its core, and the links of its streams.
///
/// These threads use it in turn, each while it has locked `mutex`. Each sends the messages that its
/// events cause before it unlocks, so that the messages of a stream are sent in their order. The
/// threads of links and trainers never wait for the mutex: they leave their events in the inbox,
/// and the thread that has locked the mutex handles these, too. Commands that only the actor can
/// carry out, and messages that take long to decode, are left to the actor.
struct consumer_memory {
  /// The link and the channel of a task's stream.
  struct route {
    std::shared_ptr<link> over;
    uint32_t channel = 0;
  };
  /// Functions of the actor. They may be called on any thread.
  struct actor_side {
    std::function<time_point()> now;
    std::function<void()> announce; ///< sends the actor the event `stream_work_left`
    /// Returns the channel of a new stream on the link, or 0 if the link is closed.
    std::function<uint32_t(const std::shared_ptr<link>&)> open_channel;
    std::function<void(const link*, uint32_t)> close_channel;
  };
  /// Carries out, in order, the commands that send messages or open or close streams. Returns the
  /// others, which are for the actor. `fresh`: the link on which streams are opened. @pre the mutex
  /// is locked
  consume::commands carry_out(consume::commands what, const std::shared_ptr<link>& fresh = {});
  /// Handles events of the inbox, a limited number. Returns the commands that are for the actor.
  /// @pre the mutex is locked
  consume::commands handle_inbox();
  /// To be called when the actor ends. If the trainer has not left, the trainer gets an error
  /// unless the repetition is finished, and each task with an open stream is sent the number of
  /// elements that the trainer keeps. @pre the mutex is locked
  void end();
  /// True if events of links and of the trainer are to be handled. @pre the mutex is locked
  bool takes_events() const { return core && !core->has_left() && !thrown; }

  std::mutex mutex;
  std::optional<consumer_core> core; ///< set while there is an actor
  actor_side actor;                  ///< likewise
  /// The components of the elements. Constant while there are streams.
  std::vector<tensor_spec> components;
  std::map<task_id, route> routes;
  std::map<std::pair<const link*, uint32_t>, task_id> by_channel;
  /// The time of the actor's next reminder.
  std::optional<time_point> reminder;
  /// True in coordinated reads, where each element may be a block of its own. Events that follow
  /// the last one sooner than `gathering_pause` are then left to the actor: it handles all that
  /// have come until it runs, so that tasks get the credit for many elements at once, and send
  /// these in one block.
  bool gathers_events = false;
  static constexpr duration gathering_pause = std::chrono::milliseconds{1};
  time_point handled_at{}; ///< when events were last handled; only if `gathers_events`

  consumer_inbox inbox;
  // Other threads leave the following to the actor, and call `announce`.
  consume::commands unfinished; ///< commands for the actor
  std::exception_ptr thrown;    ///< the exception that an event threw; the actor ends with it
  bool announced = false;       ///< `stream_work_left` was sent and has not arrived

private:
  void append_to(consume::commands& rest, consume::commands what,
                 const std::shared_ptr<link>& fresh);
  void open_stream(task_id task, const std::shared_ptr<link>& fresh);
  void handle(consume::commands& rest, consumer_inbox::channel_event what);
  void send(const consume::send& what);
  void close_stream(task_id task);

  std::vector<task_id> not_opened_; ///< streams on a link that was closed already
};

/// Decodes a message of a task. An exception becomes a failure.
result<from_task> decode_message(const consumer_memory& of, const link_message& what);
/// To be called on the thread of a link when a message of a task has arrived.
void take_message(consumer_memory& of, const link& from, link_message what);
/// To be called on the thread of a link for each of its channels when the link is closed.
void take_cut(consumer_memory& of, const link& from, uint32_t channel, const status& why);
/// To be called on the trainer's thread when the trainer has taken elements or has begun to wait.
/// While the trainer takes small blocks and does not wait, the event is left to the actor, so that
/// a thread that reads from many consumers in turn does not send all their messages itself.
void take_trainer_moved(consumer_memory& of);
/// Handles the events of the inbox. If another thread has locked the mutex, that thread does so. If
/// more and more events come, the rest is left to the actor. To be called after an event was put
/// into the inbox, and after the mutex was unlocked.
void try_handle_inbox(consumer_memory& of);

} // namespace headrace::detail
