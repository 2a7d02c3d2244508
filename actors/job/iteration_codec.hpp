#pragma once

/// Reads and writes an `iteration`, with its facts, in job_record.capnp.

#include "headrace/actors/job/iteration.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/job_record.capnp.h"

namespace headrace::detail {

void write_fact(schema::JobFact::Builder out, const iteration::fact& what);
/// @pre `in` contains a fact of `iteration`
result<iteration::fact> read_iteration_fact(schema::JobFact::Reader in);

template <>
struct state_codec<iteration> {
  static void write(schema::IterationState::Builder out, const iteration& what);
  /// `empty`: the repetition in its first state.
  static result<iteration> read(schema::IterationState::Reader in, iteration empty);
};

} // namespace headrace::detail
