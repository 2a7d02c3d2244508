#include "headrace/runtime/process/this_program.hpp"

#include <unistd.h>

namespace headrace::detail {

std::string this_program() {
  const std::string link = "/proc/self/exe";
  std::string out(4096, '\0');
  const auto n = ::readlink(link.c_str(), out.data(), out.size());
  if (n <= 0 || static_cast<size_t>(n) == out.size())
    return link;
  out.resize(static_cast<size_t>(n));
  return ::access(out.c_str(), X_OK) == 0 ? out : link;
}

} // namespace headrace::detail
