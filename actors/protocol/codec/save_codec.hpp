#pragma once

/// Reads and writes the messages and records about saves in save.capnp, dispatcher.capnp,
/// service_record.capnp and status.capnp.

#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/dispatcher.capnp.h"
#include "headrace/schemas/service_record.capnp.h"

namespace headrace::detail {

void write_save_request(schema::SaveDataset::Builder out, const save_request& what);
save_request read_save_request(schema::SaveDataset::Reader in);

void write_save_entry(schema::SaveEntry::Builder out, const save_entry& what);
save_entry read_save_entry(schema::SaveEntry::Reader in);

void write_save_view(schema::SaveStatus::Builder out, const save_view& what);
/// invalid_argument: the state of the save is one that this build does not define.
result<save_view> read_save_view(schema::SaveStatus::Reader in);

/// `who`, `life`: the worker that sends the question.
void write_save_question(schema::AskSaveSteps::Builder out, worker_id who, incarnation life,
                         const save_question& what);
/// invalid_argument: a report has no outcome that this build defines, or a plan has more than
/// `most_save_pieces` pieces, or its list of written pieces does not have one bit for each piece.
result<save_question> read_save_question(schema::AskSaveSteps::Reader in);

void write_save_steps(schema::SaveSteps::Builder out, const save_steps& what);
/// invalid_argument: an order has no step that this build defines.
result<save_steps> read_save_steps(schema::SaveSteps::Reader in);

} // namespace headrace::detail
