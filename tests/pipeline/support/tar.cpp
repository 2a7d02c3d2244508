#include "tests/pipeline/support/tar.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail::test {

std::string tar_member(const std::string& name, const std::string& content, char type) {
  std::string header(512, '\0');
  const auto put = [&](size_t at, const std::string& x) {
    std::copy(x.begin(), x.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", content.size()));
  put(136, "00000000000");
  put(148, "        ");
  put(156, std::string(1, type));
  put(257, std::string("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (unsigned char c : header) sum += c;
  put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string tar_end() { return std::string(1024, '\0'); }

} // namespace headrace::detail::test
