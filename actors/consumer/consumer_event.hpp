#pragma once

#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link.hpp"

#include <memory>
#include <string>
#include <variant>

namespace headrace {

/// A connection to a worker's data port stands, or could not be had.
struct link_made {
  std::string address;
  std::shared_ptr<link> made; ///< null: it failed
  status why;
};
/// Something came from a worker.
struct block_arrived {
  std::shared_ptr<link> from;
  link_message what;
};
/// A connection is over.
struct link_lost {
  std::shared_ptr<link> lost;
  status why;
};
/// Look at the handout's marks: the trainer took elements, or waits for some.
struct trainer_moved {};
/// The trainer needs nothing more.
struct trainer_leaves {};

/// What a consumer actor hears from its own process.
using consumer_event =
  std::variant<link_made, block_arrived, link_lost, trainer_moved, trainer_leaves>;

} // namespace headrace
