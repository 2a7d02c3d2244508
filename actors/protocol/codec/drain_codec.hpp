#pragma once

/// Reads and writes the drain messages of dispatcher.capnp.

#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace::detail {

void write_drain_request(schema::DrainWorker::Builder out, const drain_request& what);
/// invalid_argument: the message names no worker.
result<drain_request> read_drain_request(schema::DrainWorker::Reader in);

void write_worker_drains(schema::WorkerDrains::Builder out, const worker_drains& what);
worker_drains read_worker_drains(schema::WorkerDrains::Reader in);

} // namespace headrace::detail
