#pragma once

#include "headrace/runtime/base/buffer.hpp"

#include <string>

namespace headrace::detail {

/// Messages about datasets between clients and the dispatcher, as plain structs.

/// A client registers a dataset with the service.
struct dataset_registration {
  std::string id;          ///< empty: the dispatcher chooses one
  buffer graph;            ///< a Graph message; empty if the dispatcher may have the graph already
  buffer spec;             ///< an ElementSpec message
  std::string fingerprint; ///< SHA-256 of the canonical graph
  /// The dataset is for one iteration: an id that the dispatcher chooses for it is removed after
  /// the iteration.
  bool for_iteration = false;
};

/// A dataset that is registered with the service. The answer to a registration has only the id and
/// the warning.
struct dataset_def {
  std::string id;
  buffer graph;
  buffer spec;
  std::string fingerprint;
  std::string warning = {}; ///< for the client that registered it; usually empty
};

} // namespace headrace::detail
