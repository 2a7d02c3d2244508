#pragma once

#include "headrace/client/service_status.hpp"
#include "headrace/schemas/status.capnp.h"

namespace headrace::detail {

/// The reported supervision trees of a service: one for the dispatcher's process and one for each
/// worker's. For a process without a readable report there is only the root.
std::vector<supervised> read_supervision(schema::ServiceStatus::Reader in);

} // namespace headrace::detail
