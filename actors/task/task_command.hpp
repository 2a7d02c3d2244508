#pragma once

#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/task/task_event.hpp"

#include <variant>
#include <vector>

/// The commands of a `task_core`.
namespace headrace::detail::produce {

/// Names one stream on one link. A consumer that opens its stream again gets a new key.
using stream_key = strong_id<struct stream_tag>;

struct send {
  stream_key over;
  from_task what;
};
/// A message on the stream was damaged: close its link.
struct close_link {
  stream_key over;
  status why;
};
/// Run the pipeline under supervision. `runner_begins` is called each time a runner is started.
struct start_runner {};
/// Pass an answer to the runner.
struct give_splits {
  split_question which;
  result<lease_answer> what;
};
/// This many bytes of the runner's blocks are no longer outstanding.
struct take_over_bytes {
  size_t bytes = 0;
};
/// The runner is to end after the splits that it has begun; `runner_left` follows.
struct leave_runner {};
struct report {
  task_report what;
};
/// The task is over. This is the last command.
struct end {};

using command = std::variant<send, close_link, start_runner, give_splits, take_over_bytes,
                             leave_runner, report, end>;
using commands = std::vector<command>;

} // namespace headrace::detail::produce
