#pragma once

#include "headrace/client/command/status/status_watch.hpp"
#include "headrace/client/internal/worker_demand.hpp"
#include "headrace/client/server.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <future>
#include <optional>
#include <vector>

namespace headrace::detail::command {

/// Starts and stops workers of a `local_cluster`, so that their number follows the demand of the
/// trainers. A worker that is stopped leaves in order; in the meantime others may be started. The
/// destructor ends the whole service.
class scaling {
public:
  /// `running`: the number of workers at the beginning, which are numbered from 0. `status` is
  /// called to request the service's status, and may block. `of` must outlive this object.
  scaling(local_cluster& of, uint32_t running, worker_demand::options within,
          status_watch::question status, logger log);
  ~scaling();

private:
  void look(const service_status& now);
  void become(uint32_t wanted);

  local_cluster& of_;
  std::vector<size_t> workers_; ///< the numbers of the workers that run
  size_t next_;                 ///< the number of the next worker
  worker_demand demand_;
  const logger log_;
  std::vector<std::future<void>> leaving_; ///< stops in progress; the destructor waits for them
  /// The last member: it ends before the other members, which it uses.
  std::optional<status_watch> watch_;
};

} // namespace headrace::detail::command
