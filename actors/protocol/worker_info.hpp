#pragma once

#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

/// A worker, as the service knows it.
struct worker_info {
  worker_id id;
  headrace::incarnation life;
  std::string data_address; ///< `host:port` where consumers connect
  std::string boot_id;      ///< equal for all processes of one host
  std::vector<std::string> tags;
  uint32_t pid = 0;
  /// Its index in the dispatcher's list of workers, if there is one; this is its shard under a
  /// static policy. Set by the dispatcher; the worker does not know it.
  std::optional<uint32_t> shard = {};
  /// It is about to leave in order: it finishes its tasks and gets no new ones.
  bool draining = false;
  /// The place of its process, if consumers there reach the worker without a socket; else zero.
  uint64_t place = 0;
  friend bool operator==(const worker_info&, const worker_info&) = default;
};

} // namespace headrace
