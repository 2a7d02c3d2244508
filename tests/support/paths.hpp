#pragma once

#include <string>
#include <string_view>

/// Where the things are that tests read and start. Only one source knows: a path among the flags of
/// every test would keep the compiler's cache from being shared by clones.
namespace headrace::test {

/// A file or folder of examples/data, e.g. `digits/digits.csv`.
std::string data_path(std::string_view name);
/// A file or folder of tests/data.
std::string expected_path(std::string_view name);

std::string headrace_program();
std::string digits_program();
/// Continues an iterator from its position in a process of its own.
std::string resume_program();
/// Reads one epoch of a job in a process of its own; see trainer_orders.hpp.
std::string trainer_program();

/// Plug-ins that are refused.
std::string refused_plugins_folder();
std::string tile_plugin();

} // namespace headrace::test
