#include "headrace/runtime/base/process_place.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <mutex>
#include <unistd.h>

namespace headrace::detail {

uint64_t process_place() {
  static std::mutex mutex;
  static pid_t owner = 0;
  static uint64_t place = 0;
  std::lock_guard lock{mutex};
  if (owner != ::getpid()) {
    owner = ::getpid();
    place = random_id() | 1;
  }
  return place;
}

std::string process_label() {
  char name[256] = {};
  const bool known = ::gethostname(name, sizeof(name) - 1) == 0;
  return std::string{known ? name : "localhost"} + ':' + std::to_string(::getpid());
}

} // namespace headrace::detail
