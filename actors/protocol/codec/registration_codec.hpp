#pragma once

/// Reads and writes a worker's registration, and the answer to it, in dispatcher.capnp.

#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace::detail {

void write_registration(schema::RegisterWorker::Builder out, const worker_registration& who);
worker_registration read_registration(schema::RegisterWorker::Reader in);

void write_registered(schema::WorkerRegistered::Builder out, const worker_registered& what);
result<worker_registered> read_registered(schema::WorkerRegistered::Reader in);

} // namespace headrace::detail
