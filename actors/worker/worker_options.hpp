#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <string>
#include <vector>

namespace headrace {

/// What a worker may be told.
struct worker_options {
  std::string dispatcher;   ///< `host:port`
  std::string data_address; ///< `host:port` where consumers reach its data port
  std::vector<std::string> tags;
  /// How long a consumer that lost its connection may take to come back before its rows go to
  /// others.
  duration consumer_lease = std::chrono::seconds{5};
  /// How often a task's runner may crash within `restart_period` before the task fails.
  int most_restarts = 3;
  duration restart_period = std::chrono::seconds{60};
};

} // namespace headrace
