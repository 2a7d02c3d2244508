#pragma once

#include "headrace/actors/dispatcher/service_record.hpp"
#include "headrace/actors/dispatcher/worker_table.hpp"
#include "headrace/actors/protocol/job_terms.hpp"
#include "headrace/actors/protocol/local_reads.hpp"
#include "headrace/actors/store/fact_store.hpp"
#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/supervision/child_spec.hpp"

#include <functional>
#include <memory>

namespace headrace::detail {

/// The settings of a dispatcher.
struct dispatcher_options {
  lease_timing timing;
  job_terms jobs;
  /// How long a worker may take to confirm that it has started a task.
  duration start_timeout = std::chrono::seconds{5};
  /// The restart budget of each job's actor. If it is exceeded, the job fails.
  restart_budget restarts{.max_restarts = 3, .within = std::chrono::seconds{60}};
  /// The store outlives the dispatcher's actor: the next actor continues with its record.
  std::shared_ptr<fact_store<service_record>> store;
  /// The directory of the store, for the status; empty: the store is in memory.
  std::string work_dir;
  /// Returns an error while nothing new may be begun, such as when the store's disk is full. May be
  /// empty.
  std::function<status()> disk;
  /// The metrics of the dispatcher's node.
  std::shared_ptr<metric_registry> metrics = std::make_shared<metric_registry>();
  /// The past of the process, for the supervision tree in the status.
  process_past past;
  /// Called for each dispatcher actor that starts; may be empty.
  std::function<void(const caf::actor&)> on_start;
  /// Called for each actor of a job that starts; may be empty.
  std::function<void(const caf::actor&)> on_job;
  /// The workers that may register; empty: any.
  worker_roster roster = {};
  /// Where the workers run, which decides what AUTO means for new jobs.
  deployment_mode deployment = deployment_mode::remote;
  /// The most saves in which a worker takes part at a time; at least 1.
  size_t saves_a_worker = 3;
};

} // namespace headrace::detail
