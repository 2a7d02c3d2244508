#pragma once

#include "headrace/actors/job/job_record.hpp"
#include "headrace/actors/job/splits/pace_window.hpp"
#include "headrace/actors/protocol/job_description.hpp"
#include "headrace/schemas/status.capnp.h"

namespace headrace::detail {

/// Writes the status of a job's newest repetition. `round`: in coordinated reads, the next round of
/// the consumer that is furthest ahead. `paces`: the paces of the readers of that repetition.
void write_job_status(schema::JobStatus::Builder out, const job_description& about,
                      const job_record& record, uint64_t round,
                      const std::map<consumer_id, pace_window>& paces = {});

} // namespace headrace::detail
