#pragma once

#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/task/task_event.hpp"

#include <variant>
#include <vector>

/// What a `task_core` has its surroundings do.
namespace headrace::produce {

/// One stream of a consumer on one link, as the actor numbers them: a consumer that opens its
/// stream again has another.
using stream_key = strong_id<struct stream_tag>;

struct send {
  stream_key over;
  from_task what;
};
/// What came over the stream is damaged: end its link.
struct close_link {
  stream_key over;
  status why;
};
/// Run the pipeline, under supervision: `runner_begins` is called for each of its lives.
struct start_runner {};
/// The runner's answer to what it wants.
struct give_splits {
  split_question which;
  result<lease_answer> what;
};
/// So many bytes of the runner's blocks are off its hands.
struct take_over_bytes {
  size_t bytes = 0;
};
/// The runner is to come to its end after what it has begun; `runner_left` follows.
struct leave_runner {};
struct report {
  task_report what;
};
/// The task is over. The last command.
struct end {};

using command = std::variant<send, close_link, start_runner, give_splits, take_over_bytes,
                             leave_runner, report, end>;
using commands = std::vector<command>;

} // namespace headrace::produce
