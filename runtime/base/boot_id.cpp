#include "headrace/runtime/base/boot_id.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <fstream>

namespace headrace::detail {

const std::string& boot_id() {
  static const std::string id = [] {
    std::ifstream in{"/proc/sys/kernel/random/boot_id"};
    std::string text;
    if (std::getline(in, text) && !text.empty())
      return text;
    return "unknown-" + std::to_string(random_id());
  }();
  return id;
}

} // namespace headrace::detail
