#pragma once

#include "headrace/actors/protocol/timing.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace {

void write_timing(schema::Timing::Builder out, const lease_timing& timing);
lease_timing read_timing(schema::Timing::Reader in);

} // namespace headrace
