#pragma once

#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// What the service knows of a worker.
struct worker_info {
  worker_id id;
  headrace::incarnation life;
  std::string data_address; ///< `host:port` where consumers connect
  std::string boot_id;      ///< equal for all processes of one host
  std::vector<std::string> tags;
  uint32_t pid = 0;
  friend bool operator==(const worker_info&, const worker_info&) = default;
};

} // namespace headrace
