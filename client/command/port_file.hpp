#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <string>

namespace headrace::command {

/// Writes the port and a newline to the file `name`. The file appears complete, so that readers
/// never see a part of the number. An existing file with that name is replaced; a symbolic link is
/// replaced itself, so that nobody who can write to the folder can make us overwrite another file.
/// Errors name the file.
status write_port_file(const std::string& name, uint16_t port);

} // namespace headrace::command
