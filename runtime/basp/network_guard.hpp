#pragma once

#include "headrace/runtime/basp/guarded_network.hpp"

#include <array>
#include <atomic>
#include <string>

namespace headrace {

/// Counts and logs what is refused. Thread-safe.
class network_guard {
public:
  explicit network_guard(guarded_network_options options) : options_(std::move(options)) {}

  const guarded_network_options& options() const noexcept { return options_; }
  void refused(basp_refusal cause, const std::string& peer, const std::string& problem);
  basp_refusal_counters counters() const;

private:
  guarded_network_options options_;
  std::array<std::atomic<uint64_t>, basp_refusals> counts_{};
};

} // namespace headrace
