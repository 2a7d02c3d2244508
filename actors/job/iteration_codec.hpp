#pragma once

/// Between the tasks and readers of a repetition, with their facts, and job_record.capnp.

#include "headrace/actors/job/iteration.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/job_record.capnp.h"

namespace headrace {

void write_fact(schema::JobFact::Builder out, const iteration::fact& what);
/// @pre it is one of an iteration.
result<iteration::fact> read_iteration_fact(schema::JobFact::Reader in);

template <>
struct state_codec<iteration> {
  static void write(schema::IterationState::Builder out, const iteration& what);
  /// `empty`: as the repetition began.
  static result<iteration> read(schema::IterationState::Reader in, iteration empty);
};

} // namespace headrace
