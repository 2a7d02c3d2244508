#pragma once

#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail {

/// A worker, as it is described in messages of the service.
struct worker_info {
  worker_id id;
  headrace::incarnation life;
  std::string data_address; ///< the `host:port` to which consumers connect
  std::string boot_id;      ///< equal for all processes of one host
  std::vector<std::string> tags;
  uint32_t pid = 0;
  /// The index of the worker in the dispatcher's list of workers, if there is one; it is the
  /// worker's shard under a static policy. Set by the dispatcher; in the worker itself it is unset.
  std::optional<uint32_t> shard = {};
  /// The worker is about to leave in order: it finishes its tasks and gets no new ones.
  bool draining = false;
  /// The place of the worker's process, if consumers there reach the worker without a socket; else
  /// zero.
  uint64_t place = 0;
  friend bool operator==(const worker_info&, const worker_info&) = default;
};

} // namespace headrace::detail
