#pragma once

#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/message/message.hpp"
#include "headrace/runtime/supervision/snapshot.hpp"
#include "headrace/schemas/supervision.capnp.h"

#include <string>
#include <vector>

namespace headrace {

/// What one process looks after.
struct supervision_tree {
  /// For people: what it is and its process id.
  std::string process;
  process_past past;
  std::vector<supervisor_snapshot> roots;

  friend bool operator==(const supervision_tree&, const supervision_tree&) = default;
};

message<schema::SupervisionTree> encode(const supervision_tree& tree);
/// Data loss if the message is not valid. What a newer peer calls an unknown strategy, policy or
/// state reads as the last that is known.
result<supervision_tree> decode(const message<schema::SupervisionTree>& in);

/// Lines for people, one a supervisor or child, indented by depth, with restarts and last reason.
std::string render(const supervision_tree& tree);

} // namespace headrace
