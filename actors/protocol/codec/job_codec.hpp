#pragma once

/// Reads and writes the fields of messages and records that are about a job as a whole.

#include "headrace/actors/protocol/job_parameters.hpp"
#include "headrace/actors/protocol/job_past.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/sharding.capnp.h"

namespace headrace::detail {

void write_parameters(schema::JobParameters::Builder out, const job_parameters& what);
result<job_parameters> read_parameters(schema::JobParameters::Reader in);

/// Makes the terms from the fields of a message. A `wait_ns` of 0 means that the wait is unset.
inline cache_terms read_cache_terms(uint64_t wait_ns, uint32_t expected_trainers) {
  cache_terms out{{}, expected_trainers};
  if (wait_ns != 0)
    out.wait = duration{static_cast<int64_t>(wait_ns)};
  return out;
}

void write_past(schema::JobPast::Builder out, const job_past& what);
/// The lists of the result are sorted, and shortened by `job_past::bound`, whatever the message
/// contains.
job_past read_past(schema::JobPast::Reader in);

} // namespace headrace::detail
