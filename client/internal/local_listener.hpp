#pragma once

#include "headrace/runtime/link/link_service.hpp"
#include "headrace/runtime/link/local_link.hpp"

#include <memory>
#include <string>

namespace headrace::detail {

/// Accepts links inside this process: its consumers find the address of a worker's data port in
/// the hub, and open links to it without a socket. The destructor closes these links.
class local_listener {
public:
  /// Throws `error` if another listener of the hub has the address.
  local_listener(std::shared_ptr<local_hub> hub, std::string address, uint64_t node,
                 link_accepted on_accepted);
  ~local_listener();
  local_listener(const local_listener&) = delete;
  local_listener& operator=(const local_listener&) = delete;

private:
  struct accepted;
  std::shared_ptr<local_hub> hub_;
  std::string address_;
  std::shared_ptr<accepted> accepted_;
};

} // namespace headrace::detail
