#pragma once

/// Reads and writes a `split_assigner`, with its facts, in job_record.capnp.

#include "headrace/actors/job/splits/split_assigner.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/job_record.capnp.h"

namespace headrace::detail {

/// data_loss: the range would pass the last possible number.
result<split_range> checked_range(uint64_t first, uint64_t count);

/// Writes an answer: in a fact, or as the last answer to a task.
void write_lease(schema::LeasedTo::Builder out, const split_assigner::leased_to& what);
result<split_assigner::leased_to> read_lease(schema::LeasedTo::Reader in);

void write_fact(schema::JobFact::Builder out, const split_assigner::fact& what);
/// @pre `in` contains a fact of `split_assigner`
result<split_assigner::fact> read_split_fact(schema::JobFact::Reader in);

template <>
struct state_codec<split_assigner> {
  static void write(schema::SplitState::Builder out, const split_assigner& what);
  /// `empty`: an assigner without facts, with the plan of the repetition's splits. Returns the
  /// error data_loss if the state is damaged, or belongs to another plan.
  static result<split_assigner> read(schema::SplitState::Reader in, split_assigner empty);

private:
  using assigner = split_assigner; // `state_codec` is a friend of this class
  static void write_pass(schema::SplitState::Pass::Builder out, const assigner& from,
                         const assigner::key& where, const assigner::pass_state& what);
  static void write_holding(schema::SplitState::Holding::Builder out, task_id who,
                            const assigner::holding& what);
  static status read_group(schema::SplitState::Group::Reader in, assigner& out);
  static status read_pass(schema::SplitState::Pass::Reader in, assigner& out);
  static result<assigner::holding> read_holding(schema::SplitState::Holding::Reader in);
};

} // namespace headrace::detail
