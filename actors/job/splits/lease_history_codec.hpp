#pragma once

/// Reads and writes a `lease_history`, with its facts, in job_record.capnp.

#include "headrace/actors/job/splits/lease_history.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/job_record.capnp.h"

namespace headrace::detail {

void write_fact(schema::JobFact::Builder out, const lease_history::fact& what);
/// @pre `in` contains a fact of `lease_history`
result<lease_history::fact> read_lease_fact(schema::JobFact::Reader in);

template <>
struct state_codec<lease_history> {
  static void write(schema::LeaseState::Builder out, const lease_history& what);
  /// `empty`: a history without facts, with the plan of the repetition's splits.
  static result<lease_history> read(schema::LeaseState::Reader in, lease_history empty);

private:
  using history = lease_history; // this struct is its friend, and uses its private types
  static void write_task(schema::LeaseState::TaskLeases::Builder out, task_id id,
                         const history::task_leases& what);
  static result<history::task_leases> read_task(schema::LeaseState::TaskLeases::Reader in);
  static schema::Holder stored(history::held_by x);
  static result<history::held_by> read_holder(schema::Holder x);
};

} // namespace headrace::detail
