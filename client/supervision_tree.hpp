#pragma once

#include "headrace/client/service_status.hpp"

namespace headrace {

/// Who looks after whom, as a service's status says: the dispatcher after its jobs, each worker
/// after its tasks, each task after its runner, with how often that was started again.
std::vector<supervised> supervision_tree(const service_status& x);

} // namespace headrace
