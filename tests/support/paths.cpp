#include "tests/support/paths.hpp"

namespace headrace::detail::test {

std::string data_path(std::string_view name) {
  return std::string{HEADRACE_SOURCE_DIR "/examples/data/"}.append(name);
}
std::string expected_path(std::string_view name) {
  return std::string{HEADRACE_SOURCE_DIR "/tests/data/"}.append(name);
}
std::string headrace_program() { return HEADRACE_PROGRAM; }
std::string digits_program() { return HEADRACE_DIGITS_PROGRAM; }
std::string resume_program() { return HEADRACE_RESUME_PROGRAM; }
std::string trainer_program() { return HEADRACE_TRAINER_PROGRAM; }
std::string refused_plugins_folder() { return HEADRACE_REFUSED_PLUGINS; }
std::string tile_plugin() { return HEADRACE_TILE_PLUGIN; }

} // namespace headrace::detail::test
