#pragma once

#include "headrace/actors/protocol/round_epoch.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace::detail {

/// Reads and writes the epochs of coordinated reads in dispatcher.capnp.

void write_round_epoch(schema::RoundEpoch::Builder out, const round_epoch& what);
round_epoch read_round_epoch(schema::RoundEpoch::Reader in);
void write_round_seat(schema::RoundSeat::Builder out, const round_seat& what);
round_seat read_round_seat(schema::RoundSeat::Reader in);
void write_rounds(schema::Rounds::Builder out, const round_view& what);
round_view read_rounds(schema::Rounds::Reader in);

} // namespace headrace::detail
