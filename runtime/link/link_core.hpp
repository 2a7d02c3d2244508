#pragma once

#include "headrace/runtime/link/greeting_crowd.hpp"
#include "headrace/runtime/link/io_loop.hpp"
#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/link/link_service.hpp"
#include "headrace/runtime/link/wire/tls_context.hpp"

#include <memory>
#include <utility>

namespace headrace::detail {

/// The parts that all links of a service share.
struct link_core {
  explicit link_core(std::shared_ptr<metric_registry> all)
    : registry(std::move(all)), count(*registry) {}

  link_options options;
  std::shared_ptr<tls_context> tls; // null: no TLS
  buffer hello;                     // the encoded hello of this node
  // The accepted connections, of all listeners, that have not sent their hello yet or were refused.
  greeting_crowd greeting;

  std::shared_ptr<metric_registry> registry;
  link_metrics count;

  void refused(refusal cause) { count.refused[static_cast<size_t>(cause)]->add(); }
};

} // namespace headrace::detail
