#pragma once

#include "headrace/runtime/base/status.hpp"

namespace headrace {

/// `cannot WHAT 'PATH': reason` for an errno, with the code that tells its kind.
status file_error(const std::string& path, const char* what, int number);

} // namespace headrace
