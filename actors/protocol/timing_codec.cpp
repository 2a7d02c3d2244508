#include "headrace/actors/protocol/timing_codec.hpp"

namespace headrace {

void write_timing(schema::Timing::Builder out, const lease_timing& timing) {
  out.setHeartbeatNs(static_cast<uint64_t>(timing.heartbeat.count()));
  out.setLeaseNs(static_cast<uint64_t>(timing.lease.count()));
}

lease_timing read_timing(schema::Timing::Reader in) {
  return {duration{static_cast<int64_t>(in.getHeartbeatNs())},
          duration{static_cast<int64_t>(in.getLeaseNs())}};
}

} // namespace headrace
