#include "headrace/client/server_timing.hpp"

#include "headrace/runtime/base/result.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace {

namespace {

std::string milliseconds(duration x) {
  return fmt::format("{:g} ms", std::chrono::duration<double, std::milli>(x).count());
}

} // namespace

duration heartbeat_for(std::optional<duration> asked, duration lease) {
  if (lease <= duration::zero())
    throw error{invalid_argument(
      fmt::format("lease is {}; it must be longer than nothing", milliseconds(lease)))};
  const auto out =
    asked.value_or(std::clamp<duration>(lease / 4, duration{1}, std::chrono::seconds{1}));
  if (out <= duration::zero())
    throw error{invalid_argument(
      fmt::format("heartbeat is {}; it must be longer than nothing", milliseconds(out)))};
  if (lease / 2 < out)
    throw error{invalid_argument(fmt::format(
      "lease is {} and heartbeat is {}; the lease must be at least twice the heartbeat, or workers "
      "would die of one late message",
      milliseconds(lease), milliseconds(out)))};
  return out;
}

link_liveness liveness_for(duration lease) {
  constexpr duration shortest = std::chrono::milliseconds{1};
  const auto every = std::clamp<duration>(lease / 5, shortest, longest_ping_interval);
  return {.ping_every = every, .silent_for = std::max(lease, 2 * every)};
}

} // namespace headrace
