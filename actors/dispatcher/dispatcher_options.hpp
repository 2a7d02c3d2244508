#pragma once

#include "headrace/actors/dispatcher/worker_table.hpp"

namespace headrace {

/// What a dispatcher may be told.
struct dispatcher_options {
  lease_timing timing;
  /// How long a named job that nobody reads is kept.
  duration idle_job = std::chrono::minutes{5};
  /// How long a worker may take to answer that it has a task.
  duration start_timeout = std::chrono::seconds{5};
};

} // namespace headrace
