#pragma once

#include "headrace/client/service_status.hpp"
#include "headrace/schemas/status.capnp.h"

namespace headrace {

/// Who looks after whom in a service: a tree for the dispatcher's process and one for each
/// worker's, as they said themselves. Of a process that said nothing (yet), or nothing readable,
/// only the top is known.
std::vector<supervised> read_supervision(schema::ServiceStatus::Reader in);

} // namespace headrace
