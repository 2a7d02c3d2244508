#pragma once

#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <string>
#include <variant>
#include <vector>

/// What a `consumer_core` has its surroundings do.
namespace headrace::consume {

/// Ask the dispatcher for the iteration. The outcome goes to `answered` or `unanswered` with the
/// same number.
struct ask {
  uint64_t number = 0;
  open_iteration what;
};
/// Say to the job that this reader lives. The outcome goes to `heartbeat_answered`, with the time
/// of the command, or to `heartbeat_unanswered`.
struct beat {
  reader_heartbeat what;
  time_point at; ///< now
};
/// Say to the job that this reader leaves. The outcome goes to `goodbye_answered` or
/// `goodbye_unanswered`.
struct say_goodbye {
  leave_iteration what;
};
/// Nothing is left to be said: no event follows.
struct quit {};
/// The connection to the dispatcher answers no more: make another one.
struct renew_dispatcher {
  status why;
};
/// Make a link to a worker's data port, or use the one that is there. The outcome goes to
/// `linked` or `not_linked`.
struct make_link {
  std::string address;
};
/// Begin a stream on the link to `address`: what is sent for `task` from here on goes there. If
/// that link is over already, `stream_cut` follows.
struct open_stream {
  task_id task;
  std::string address;
};
struct send {
  task_id task;
  from_consumer what;
};
/// Accept nothing more from the task's stream.
struct close_stream {
  task_id task;
};

using command = std::variant<ask, beat, say_goodbye, quit, renew_dispatcher, make_link, open_stream,
                             send, close_stream>;
using commands = std::vector<command>;

} // namespace headrace::consume
