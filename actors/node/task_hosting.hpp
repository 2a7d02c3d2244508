#pragma once

#include "headrace/actors/hosted_task.hpp"
#include "headrace/actors/task_surroundings.hpp"

namespace headrace::detail {

/// Makes tasks that run pipelines in this process.
host_task host_tasks(task_surroundings surroundings, logger log);

} // namespace headrace::detail
