#pragma once

/// Between receipts of splits and dispatcher.capnp.

#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace {

void write_run(schema::SplitRun::Builder out, const split_run& what);
/// Of one that would end after the last number what is before that.
split_run read_run(schema::SplitRun::Reader in);

void write_receipt(schema::SplitReceipt::Builder out, const split_receipt& what);
/// Of one that names more runs than `most_receipt_runs`, or whose runs cannot be read, nothing is
/// kept: it says that nothing is known.
split_receipt read_receipt(schema::SplitReceipt::Reader in);

void write_receipts(capnp::List<schema::SplitReceipt>::Builder out,
                    const std::vector<split_receipt>& what);
std::vector<split_receipt> read_receipts(capnp::List<schema::SplitReceipt>::Reader in);

} // namespace headrace
