#include "headrace/pipeline/files/random_file.hpp"

#include "headrace/pipeline/files/byte_stream.hpp"
#include "headrace/runtime/base/descriptors.hpp"
#include "headrace/runtime/base/thread_waits.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::detail {

result<std::unique_ptr<const random_file>> random_file::open(const std::string& path,
                                                             const std::stop_token& stop) {
  const timed_wait waits{&thread_waits::storage_ns};
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const int fd = open_patiently(path, O_RDONLY | O_NONBLOCK, stop);
  if (fd < 0)
    return file_error(path, "open", errno);
  std::unique_ptr<random_file> out{new random_file{path, fd}};
  struct stat info {};
  if (::fstat(fd, &info) != 0)
    return file_error(path, "look at", errno);
  if (S_ISDIR(info.st_mode))
    return file_error(path, "read", EISDIR);
  if (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode) || S_ISSOCK(info.st_mode))
    return failed_precondition(
      fmt::format("cannot read '{}': it is a pipe or a device, and not a file", path));
  out->bytes_ = static_cast<uint64_t>(info.st_size);
  out->modified_ns_ = info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
  return std::unique_ptr<const random_file>{std::move(out)};
}

random_file::~random_file() { ::close(fd_); }

result<size_t> random_file::read_some(uint64_t offset, std::span<std::byte> to) const {
  const timed_wait waits{&thread_waits::storage_ns};
  size_t done = 0;
  while (done < to.size()) {
    const auto n =
      ::pread(fd_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno != EINTR)
      return file_error(path_, "read", errno);
    if (n == 0)
      break;
    if (n > 0)
      done += static_cast<size_t>(n);
  }
  return done;
}

status random_file::read(uint64_t offset, std::span<std::byte> to) const {
  HEADRACE_ASSIGN(const auto done, read_some(offset, to));
  if (done < to.size())
    return data_loss(fmt::format("'{}' ends before offset {}", path_, offset + to.size()));
  return {};
}

} // namespace headrace::detail
