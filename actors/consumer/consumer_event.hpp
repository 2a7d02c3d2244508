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
/// A message arrived from a worker.
struct block_arrived {
  std::shared_ptr<link> from;
  link_message what;
};
/// A link is closed.
struct link_lost {
  std::shared_ptr<link> lost;
  status why;
};
/// The marks of the handout have changed: the trainer took elements, or began to wait.
struct trainer_moved {};
/// The trainer has finished with the iteration.
struct trainer_leaves {};

/// The messages to a consumer actor from its own process.
using consumer_event =
  std::variant<link_made, block_arrived, link_lost, trainer_moved, trainer_leaves>;

} // namespace headrace::detail
