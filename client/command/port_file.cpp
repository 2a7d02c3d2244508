#include "headrace/client/command/port_file.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace headrace::command {

status write_port_file(const std::string& name, uint16_t port) {
  const auto failed = [&](int number) {
    return failed_precondition(fmt::format("cannot write {}: {}", name, std::strerror(number)));
  };
  // A name that cannot be predicted; if it exists all the same, it is not written through.
  const auto draft = fmt::format("{}.{:016x}.new", name, random_id());
  constexpr int everybody = 0666; // reduced by the process's mask
  const int fd =
    ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, everybody);
  if (fd < 0)
    return failed(errno);
  const auto text = fmt::format("{}\n", port);
  int why = 0;
  const auto written = ::write(fd, text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()))
    why = written < 0 ? errno : ENOSPC;
  if (::close(fd) != 0 && why == 0)
    why = errno;
  if (why == 0 && std::rename(draft.c_str(), name.c_str()) != 0)
    why = errno;
  if (why == 0)
    return {};
  ::unlink(draft.c_str());
  return failed(why);
}

} // namespace headrace::command
