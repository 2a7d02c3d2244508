#include "headrace/actors/protocol/codec/timing_codec.hpp"

#include <fmt/format.h>

namespace headrace::detail {

void write_timing(schema::Timing::Builder out, const lease_timing& timing) {
  out.setHeartbeatNs(static_cast<uint64_t>(timing.heartbeat.count()));
  out.setLeaseNs(static_cast<uint64_t>(timing.lease.count()));
}

result<lease_timing> read_timing(schema::Timing::Reader in) {
  constexpr auto most = static_cast<uint64_t>(duration{longest_lease}.count());
  const auto heartbeat = in.getHeartbeatNs();
  const auto lease = in.getLeaseNs();
  if (heartbeat == 0 || lease > most || heartbeat > lease / 2)
    return invalid_argument(
      fmt::format("the dispatcher gives a heartbeat of {} ns and a lease of {} ns: a heartbeat of "
                  "more than 0 ns, and a lease of at least two heartbeats and at most an hour "
                  "would be right",
                  heartbeat, lease));
  return lease_timing{duration{static_cast<int64_t>(heartbeat)},
                      duration{static_cast<int64_t>(lease)}};
}

} // namespace headrace::detail
