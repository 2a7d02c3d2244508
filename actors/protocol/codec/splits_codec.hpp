#pragma once

/// Reads and writes a task's question for splits, and the answer to it, in dispatcher.capnp.

#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace::detail {

void write_unread_splits(schema::UnreadSplits::Builder out, const unread_splits& what);
unread_splits read_unread_splits(schema::UnreadSplits::Reader in);

void write_done(capnp::List<schema::SplitsDone>::Builder out, const std::vector<splits_done>& what);
/// If an entry describes its done splits in a form that this build does not define, no split of the
/// entry's pass counts as done (`splits_done::split` is unset).
std::vector<splits_done> read_done(capnp::List<schema::SplitsDone>::Reader in);

void write_listing(schema::SplitListing::Builder out, const split_listing& what, bool with_entries);
std::shared_ptr<const split_listing> read_listing(schema::SplitListing::Reader in);

/// The entries of a listing are sent only with the first question about a pass. The job stores them
/// with the pass, or uses them to report how the listings of two tasks differ.
void write_splits_request(schema::LeaseSplits::Builder out, const splits_request& what);
splits_request read_splits_request(schema::LeaseSplits::Reader in);

void write_splits_answer(schema::SplitsLeased::Builder out, const lease_answer& what);
/// A kind of answer that this build does not define results in `unimplemented`, with its number.
result<lease_answer> read_splits_answer(schema::SplitsLeased::Reader in);

} // namespace headrace::detail
