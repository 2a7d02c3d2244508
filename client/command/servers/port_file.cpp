#include "headrace/client/command/servers/port_file.hpp"

#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/read_text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace headrace::detail::command {

port_file::~port_file() {
  if (name_.empty())
    return;
  if (read_text(name_) == text_)
    ::unlink(name_.c_str());
}

status port_file::write(const std::string& name, uint16_t port) {
  if (name.empty())
    return {};
  const auto failed = [&](int number) {
    return failed_precondition(fmt::format("cannot write {}: {}", name, std::strerror(number)));
  };
  // Other users cannot predict the name, and if a file with that name exists, opening it fails.
  const auto draft = fmt::format("{}.{:016x}.new", name, random_id());
  constexpr int everybody = 0666; // the umask of the process removes permissions
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
  if (why == 0) {
    name_ = name;
    text_ = text;
    return {};
  }
  ::unlink(draft.c_str());
  return failed(why);
}

} // namespace headrace::detail::command
