#include "headrace/runtime/process/memory_limit.hpp"

#include "headrace/runtime/process/exit_code.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace headrace::detail {
namespace {

// The text is composed before the handler is installed, because the handler must not allocate.
char last_words[128];
size_t last_words_size = 0;

[[noreturn]] void end_at_limit() {
  [[maybe_unused]] auto n = ::write(STDERR_FILENO, last_words, last_words_size);
  ::_exit(static_cast<int>(exit_code::memory_limit));
}

} // namespace

uint64_t private_memory_bytes() {
  std::ifstream in{"/proc/self/status"};
  std::string word;
  uint64_t kib = 0;
  while (in >> word)
    if (word == "VmData:") {
      in >> kib;
      break;
    }
  return kib << 10;
}

status set_memory_limit(uint64_t bytes) {
  if (auto used = private_memory_bytes(); bytes <= used)
    return invalid_argument("memory limit of " + std::to_string(bytes)
                            + " bytes: " + std::to_string(used)
                            + " are in use already; it must be larger than that");
  auto text = "headrace: memory limit of " + std::to_string(bytes >> 20) + " MiB reached, ending\n";
  last_words_size = std::min(text.size(), sizeof(last_words));
  std::memcpy(last_words, text.data(), last_words_size);
  rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0)
    return {status_code::failed_precondition, "cannot set a memory limit of "
                                                + std::to_string(bytes)
                                                + " bytes: " + std::strerror(errno)};
  std::set_new_handler(end_at_limit);
  return {};
}

} // namespace headrace::detail
