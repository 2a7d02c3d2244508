#include "headrace/runtime/base/read_text.hpp"

#include <fstream>
#include <sstream>
#include <utility>

namespace headrace::detail {

std::string read_text(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream out;
  // An istreambuf_iterator would throw if a read fails, as it does for a directory, and in /proc
  // for a process that has ended.
  out << in.rdbuf();
  return std::move(out).str();
}

} // namespace headrace::detail
