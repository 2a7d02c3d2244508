#pragma once

/// Reads and writes `held_rows`, with its facts, in job_record.capnp.

#include "headrace/actors/job/splits/held_rows.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/job_record.capnp.h"

namespace headrace::detail {

void write_fact(schema::JobFact::Builder out, const held_rows::fact& what);
/// @pre `in` contains a fact of `held_rows`
result<held_rows::fact> read_held_fact(schema::JobFact::Reader in);

template <>
struct state_codec<held_rows> {
  static void write(schema::JobState::Repetition::Builder out, const held_rows& what);
  static result<held_rows> read(schema::JobState::Repetition::Reader in);
};

} // namespace headrace::detail
