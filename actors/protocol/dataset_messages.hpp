#pragma once

#include "headrace/runtime/base/buffer.hpp"

#include <string>

namespace headrace {

/// What clients and the dispatcher say to each other about datasets, as plain structs.

/// A dataset is to be known to the service.
struct dataset_registration {
  std::string id;          ///< empty: the dispatcher chooses one
  buffer graph;            ///< a Graph message; empty: the dispatcher may have it from before
  buffer spec;             ///< an ElementSpec message
  std::string fingerprint; ///< SHA-256 of the canonical graph
  /// Wanted by one iteration alone: an id that the dispatcher chooses is forgotten after that.
  bool for_iteration = false;
};

/// A dataset as the service knows it; of one that was just registered only the id is said.
struct dataset_def {
  std::string id;
  buffer graph;
  buffer spec;
  std::string fingerprint;
  std::string warning = {}; ///< for whoever registered it; mostly empty
};

} // namespace headrace
