#pragma once

#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link.hpp"

#include <memory>
#include <string>
#include <variant>

namespace headrace::detail {

/// A link to a worker was made, or could not be made.
struct link_made {
  std::string address;
  std::shared_ptr<link> made; ///< null: the link could not be made
  status why;
};
/// Another thread has left messages of tasks, or commands, in the consumer's memory.
struct stream_work_left {};
/// A link is closed.
struct link_lost {
  std::shared_ptr<link> lost;
  status why;
};
/// The trainer has finished with the iteration.
struct trainer_leaves {};

/// The messages to a consumer actor from its own process.
using consumer_event = std::variant<link_made, stream_work_left, link_lost, trainer_leaves>;

} // namespace headrace::detail
