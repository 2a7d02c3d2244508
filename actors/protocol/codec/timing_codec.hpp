#pragma once

#include "headrace/actors/protocol/timing.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace::detail {

void write_timing(schema::Timing::Builder out, const lease_timing& timing);
/// invalid_argument names both values. It is returned for a heartbeat that is not positive, and for
/// a lease of less than two heartbeats or of more than `longest_lease`.
result<lease_timing> read_timing(schema::Timing::Reader in);

} // namespace headrace::detail
