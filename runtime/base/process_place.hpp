#pragma once

#include <cstdint>

namespace headrace {

/// Equal in two nodes if and only if they are of one process: random, never zero, and another one
/// in a child that was forked. (Process ids repeat in containers of one host.)
uint64_t process_place();

} // namespace headrace
