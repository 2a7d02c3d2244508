#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/base/ids.hpp"
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
/// The trainer has been handed elements since it was last said.
struct handed_out {};
/// The trainer has nothing left to take: a good time to fetch what others hold back.
struct trainer_waits {};
/// The trainer needs nothing more.
struct trainer_leaves {};

/// What a consumer actor hears from its own process.
using consumer_event
  = std::variant<link_made, block_arrived, link_lost, handed_out, trainer_waits, trainer_leaves>;

} // namespace headrace
