#pragma once

/// What is said and stored of a job as a whole, and its schema.

#include "headrace/actors/protocol/job_parameters.hpp"
#include "headrace/actors/protocol/job_past.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/sharding.capnp.h"

namespace headrace {

void write_parameters(schema::JobParameters::Builder out, const job_parameters& what);
result<job_parameters> read_parameters(schema::JobParameters::Reader in);

void write_past(schema::JobPast::Builder out, const job_past& what);
/// In order and within its bounds, whatever the message says.
job_past read_past(schema::JobPast::Reader in);

} // namespace headrace
