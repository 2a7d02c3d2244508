#pragma once

#include "headrace/actors/job/iteration.hpp"
#include "headrace/actors/protocol/failure_codec.hpp"
#include "headrace/actors/protocol/reader_codec.hpp"
#include "headrace/actors/protocol/timing_codec.hpp"

namespace headrace {

/// What a consumer needs to know of the repetition it reads.
iteration_view view_of(const iteration& state, job_id job, bool shared, const lease_timing& timing);

} // namespace headrace
