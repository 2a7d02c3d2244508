#pragma once

#include <cstddef>
#include <fstream>
#include <unistd.h>

namespace headrace::detail::test {

/// The resident memory of this process, in bytes.
inline size_t resident_bytes() {
  std::ifstream in{"/proc/self/statm"};
  size_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace headrace::detail::test
