#pragma once

#include "headrace/client/server.hpp"
#include "headrace/client/worker_demand.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headrace::command {

/// Starts and stops workers of a cluster in this process, as its trainers need them. A worker that
/// is stopped leaves in order.
class scaling {
public:
  /// `running`: the workers that there are, numbered from 0. `status` may block. `of` lives longer.
  scaling(local_cluster& of, uint32_t running, worker_demand::options within,
          std::function<result<service_status>()> status, logger log);
  /// Waits for a worker that is leaving.
  ~scaling();
  scaling(const scaling&) = delete;

private:
  void run(const std::stop_token& stop);
  void become(uint32_t wanted);

  local_cluster& of_;
  std::vector<size_t> workers_; ///< the numbers of those that run
  size_t next_;                 ///< the number of the next one
  worker_demand demand_;
  const std::function<result<service_status>()> status_;
  const logger log_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_; ///< last: it ends before what it uses
};

} // namespace headrace::command
