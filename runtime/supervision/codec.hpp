#pragma once

#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/message/message.hpp"
#include "headrace/runtime/supervision/snapshot.hpp"
#include "headrace/schemas/supervision.capnp.h"

#include <string>
#include <vector>

namespace headrace::detail {

/// The supervision tree of one process.
struct supervision_tree {
  /// A text for users: the kind of process and its process id.
  std::string process;
  process_past past;
  std::vector<supervisor_snapshot> roots;

  friend bool operator==(const supervision_tree&, const supervision_tree&) = default;
};

message<schema::SupervisionTree> encode(const supervision_tree& tree);
/// Decodes a tree. `data_loss`: the message is not valid. A strategy, policy or state that is
/// unknown to this build is read as the last enumerator of its type.
result<supervision_tree> decode(const message<schema::SupervisionTree>& in);

/// The tree as text for users: a line for each root supervisor and each child, indented by depth,
/// with its state, the number of its restarts, and the reason for its last end that was not
/// requested.
std::string render(const supervision_tree& tree);

} // namespace headrace::detail
