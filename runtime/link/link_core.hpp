#pragma once

#include "headrace/runtime/link/greeting_crowd.hpp"
#include "headrace/runtime/link/io_loop.hpp"
#include "headrace/runtime/link/link_service.hpp"
#include "headrace/runtime/link/tls_context.hpp"

#include <array>
#include <atomic>
#include <memory>

namespace headrace {

/// What all links of a service share.
struct link_core {
  link_options options;
  std::shared_ptr<tls_context> tls; // null: plain
  buffer hello;                     // ours, encoded
  greeting_crowd greeting;          // of all listeners

  struct {
    std::atomic<uint64_t> accepted{0}, connected{0};
    std::atomic<uint64_t> messages_in{0}, messages_out{0}, bytes_in{0}, bytes_out{0};
    std::array<std::atomic<uint64_t>, refusals> refused{};
  } count;

  void refused(refusal cause) {
    count.refused[static_cast<size_t>(cause)].fetch_add(1, std::memory_order_relaxed);
  }
};

} // namespace headrace
