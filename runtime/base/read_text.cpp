#include "headrace/runtime/base/read_text.hpp"

#include <fstream>
#include <sstream>
#include <utility>

namespace headrace::detail {

std::string read_text(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream out;
  // The bytes are not read with an istreambuf_iterator, which throws if a read fails. Reads fail
  // for a directory, and for a file in /proc of a process that has ended.
  out << in.rdbuf();
  return std::move(out).str();
}

} // namespace headrace::detail
