#pragma once

#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <string>
#include <variant>
#include <vector>

/// The commands of a `consumer_core`.
namespace headrace::detail::consume {

/// Send OpenIteration to the dispatcher. The outcome goes to `answered` or `unanswered`, with the
/// same number.
struct ask {
  uint64_t number = 0;
  open_iteration what;
};
/// Send a heartbeat to the job. The outcome goes to `heartbeat_answered`, with the time of the
/// command, or to `heartbeat_unanswered`.
struct beat {
  reader_heartbeat what;
  time_point at; ///< the time of the command
};
/// Send LeaveIteration to the job. The outcome goes to `goodbye_answered` or `goodbye_unanswered`.
struct say_goodbye {
  leave_iteration what;
};
/// The consumer has ended. This is the last command; no event follows.
struct quit {};
/// The dispatcher does not answer over the present connection: make another one.
struct renew_dispatcher {
  status why;
};
/// Make a link to a worker's data port, or use the present one. The outcome goes to `linked` or
/// `not_linked`.
struct make_link {
  std::string address;
};
/// Begin a stream on the link to `address`: later messages for `task` go there. If that link is
/// closed already, `stream_cut` follows.
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

} // namespace headrace::detail::consume
