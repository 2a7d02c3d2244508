#pragma once

#include "headrace/runtime/base/status.hpp"

namespace headrace::detail {

/// The error `cannot WHAT 'PATH': reason` for an errno, with the matching code.
status file_error(const std::string& path, const char* what, int number);

} // namespace headrace::detail
