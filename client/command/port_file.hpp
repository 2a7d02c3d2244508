#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <string>

namespace headrace::command {

/// Writes the port and a newline to the file `name`, which appears whole: readers never see half a
/// number. Whatever has the name is replaced, a symbolic link itself and not what it leads to, so
/// that nobody who can write to the folder can direct us to a file of ours. Errors name the file.
status write_port_file(const std::string& name, uint16_t port);

} // namespace headrace::command
