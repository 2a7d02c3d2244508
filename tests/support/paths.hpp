#pragma once

#include <string>
#include <string_view>

/// The paths of the files and programs that tests read and start. Only one source is compiled with
/// them. As flags of every test they would make the compilations of two clones of the repository
/// different, and the clones could not share a compiler cache.
namespace headrace::detail::test {

/// A file or folder of examples/data, e.g. `digits/digits.csv`.
std::string data_path(std::string_view name);
/// A file or folder of tests/data.
std::string expected_path(std::string_view name);

std::string headrace_program();
std::string digits_program();
/// A program that restores an iterator from its position and continues it; see resume_program.cpp.
std::string resume_program();
/// A program that reads one repetition of a job; see trainer_orders.hpp for its arguments.
std::string trainer_program();

/// The folder of the plug-ins that are refused.
std::string refused_plugins_folder();
std::string tile_plugin();

} // namespace headrace::detail::test
