#pragma once

/// Reads and writes receipts of splits in dispatcher.capnp.

#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace::detail {

void write_run(schema::SplitRun::Builder out, const split_run& what);
/// A run that would exceed the highest possible number is cut there.
split_run read_run(schema::SplitRun::Reader in);

void write_receipt(schema::SplitReceipt::Builder out, const split_receipt& what);
/// If a receipt has more than `most_receipt_runs` runs, or runs that cannot be read, the result has
/// none, and a `from_pass` of UINT64_MAX: for no pass is it known which splits were reached.
split_receipt read_receipt(schema::SplitReceipt::Reader in);

void write_receipts(capnp::List<schema::SplitReceipt>::Builder out,
                    const std::vector<split_receipt>& what);
std::vector<split_receipt> read_receipts(capnp::List<schema::SplitReceipt>::Reader in);

} // namespace headrace::detail
