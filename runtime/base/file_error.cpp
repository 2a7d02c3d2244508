#include "headrace/runtime/base/file_error.hpp"

#include <cerrno>
#include <cstring>

namespace headrace::detail {

status file_error(const std::string& path, const char* what, int number) {
  const auto text = std::string{"cannot "} + what + " '" + path + "': " + std::strerror(number);
  switch (number) {
  case ENOENT:
  case ENOTDIR: return not_found(text);
  case EACCES:
  case EPERM: return {status_code::permission_denied, text};
  case EISDIR: return failed_precondition(text);
  case EMFILE:
  case ENFILE:
  case ENOMEM:
  case ENOSPC:
  case EDQUOT:
  case EFBIG: return resource_exhausted(text);
  default: return {status_code::unknown, text};
  }
}

} // namespace headrace::detail
