#include "headrace/runtime/process/memory_size.hpp"

#include "headrace/runtime/base/read_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace headrace::detail {

namespace {

/// The limit in a file of a control group; the text `max`, or a missing file, means no limit.
uint64_t limit_in(const std::string& file) {
  const auto text = read_text(file);
  char* end = nullptr;
  const auto out = std::strtoull(text.c_str(), &end, 10);
  return end == text.c_str() || out == 0 ? UINT64_MAX : out;
}

/// The least limit of the folder `group` below `root`, and of the folders above it.
uint64_t least_upward(const std::string& root, std::string group, const char* file) {
  auto out = UINT64_MAX;
  for (;;) {
    out = std::min(out, limit_in(root + group + "/" + file));
    const auto slash = group.rfind('/');
    if (slash == std::string::npos)
      return out;
    group.resize(slash);
  }
}

} // namespace

uint64_t control_group_limit(const std::string& membership, const std::string& root) {
  auto out = UINT64_MAX;
  std::istringstream lines{membership};
  for (std::string line; std::getline(lines, line);) {
    // The format is hierarchy:controllers:path; in version 2 the controllers are empty.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    auto group = line.substr(second + 1);
    if (group == "/")
      group.clear();
    if (controllers == ",,")
      out = std::min(out, least_upward(root, group, "memory.max"));
    else if (controllers.find(",memory,") != std::string::npos)
      // In a container `group` is a path of the host. Only the root, with the limit, exists here.
      out = std::min(out, least_upward(root + "/memory", group, "memory.limit_in_bytes"));
  }
  return out;
}

uint64_t memory_size_bytes() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
  auto out = pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page)
                                   : uint64_t{4} << 30;
  rlimit data{};
  if (::getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY)
    out = std::min<uint64_t>(out, data.rlim_cur);
  return std::min(out, control_group_limit(read_text("/proc/self/cgroup"), "/sys/fs/cgroup"));
}

} // namespace headrace::detail
