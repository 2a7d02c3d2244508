#pragma once

/// Reads and writes the dataset messages of dispatcher.capnp.

#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace::detail {

/// Copies graph and spec out of the message.
dataset_registration read_dataset_registration(schema::RegisterDataset::Reader in);
void write_dataset_registration(schema::RegisterDataset::Builder out,
                                const dataset_registration& what);
void write_dataset_def(schema::DatasetDef::Builder out, const dataset_def& what);

} // namespace headrace::detail
