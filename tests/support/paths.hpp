#pragma once

#include <string>
#include <string_view>

/// The paths of the files and programs that tests read and start. They are compiled into only one
/// source. If they were flags of every test, clones of the repository could not share a compiler
/// cache.
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
