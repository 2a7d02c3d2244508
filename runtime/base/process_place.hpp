#pragma once

#include <cstdint>
#include <string>

namespace headrace::detail {

/// A number that is equal in two nodes if and only if they are in one process: random, never zero,
/// and different in a forked child. (Process ids can be equal in two containers of one host.)
uint64_t process_place();

/// The host's name and the process id, for users: `HOST:PID`.
std::string process_label();

} // namespace headrace::detail
