#pragma once

#include <string>

namespace headrace::detail {

/// The path of the program that this process runs. If its file was replaced or deleted since the
/// start, the result is `/proc/self/exe`, which runs the old file in a child of this process.
std::string this_program();

} // namespace headrace::detail
