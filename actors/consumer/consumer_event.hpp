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
/// Another thread has left something to the actor in `consumer_memory`: commands, a message to
/// decode, an earlier deadline, or an error.
struct stream_work_left {};
/// The trainer has finished with the iteration.
struct trainer_leaves {};

/// The messages to a consumer actor from its own process.
using consumer_event = std::variant<link_made, stream_work_left, trainer_leaves>;

} // namespace headrace::detail
