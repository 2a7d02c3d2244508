#pragma once

#include "headrace/actors/job/job_record.hpp"
#include "headrace/actors/protocol/job_description.hpp"
#include "headrace/schemas/status.capnp.h"

namespace headrace {

/// What `headrace status` shows of a job: its newest repetition.
/// `round`: of coordinated reads, that the foremost consumer takes next.
void write_job_status(schema::JobStatus::Builder out, const job_description& about,
                      const job_record& record, uint64_t round);

} // namespace headrace
