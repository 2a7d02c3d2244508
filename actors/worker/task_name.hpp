#pragma once

#include "headrace/runtime/base/ids.hpp"

#include <cstdlib>
#include <string>

namespace headrace::detail {

/// The name of a task among its worker's children.
inline std::string child_of(task_id id) { return "task " + to_string(id); }
/// @pre `child` is from `child_of`
inline task_id task_named(const std::string& child) {
  return task_id{std::strtoull(child.c_str() + child.find(' '), nullptr, 16)};
}

} // namespace headrace::detail
