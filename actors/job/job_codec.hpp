#pragma once

/// Between a job's plain structs and the messages of dispatcher.capnp.

#include "headrace/actors/dispatcher/worker_table.hpp"
#include "headrace/actors/job/iteration.hpp"
#include "headrace/schemas/dispatcher.capnp.h"
#include "headrace/schemas/failure.capnp.h"
#include "headrace/schemas/worker.capnp.h"

namespace headrace {

/// What a consumer needs to know of the repetition it reads.
void write_iteration(schema::Iteration::Builder out, const iteration& state, job_id job,
                     bool shared, const lease_timing& timing);
void write_timing(schema::Timing::Builder out, const lease_timing& timing);
lease_timing read_timing(schema::Timing::Reader in);

void write_failure(schema::Failure::Builder out, const status& why);
/// A code that this build does not know reads as `unknown`.
status read_failure(schema::Failure::Reader in);

} // namespace headrace
