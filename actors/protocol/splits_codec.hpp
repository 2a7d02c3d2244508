#pragma once

/// Between a task's question for splits, and the answer, and dispatcher.capnp. Questions are
/// numbered from 0 in the structs and from 1 in the messages.

#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace {

void write_splits_request(schema::LeaseSplits::Builder out, const splits_request& what);
/// invalid_argument: the question has no number.
result<splits_request> read_splits_request(schema::LeaseSplits::Reader in);

void write_splits_answer(schema::SplitsLeased::Builder out, const splits_answer& what);
/// A kind of answer that this build does not know is `unimplemented`, named by its number.
result<splits_answer> read_splits_answer(schema::SplitsLeased::Reader in);

} // namespace headrace
