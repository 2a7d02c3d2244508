#include "headrace/runtime/journal/disk_reserve.hpp"

#include "headrace/runtime/base/descriptors.hpp"
#include "headrace/runtime/base/file_error.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail {

result<disk_reserve> disk_reserve::open(const std::string& path, uint64_t bytes) {
  if (bytes == 0) {
    ::unlink(path.c_str());
    return disk_reserve{-1, 0};
  }
  constexpr mode_t everybody = 0666; // reduced by the process's umask
  const int fd =
    with_descriptors([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, everybody); });
  if (fd < 0) {
    if (errno == ENOSPC || errno == EDQUOT) // there is no room even for the name of the file
      return disk_reserve{-1, bytes};
    return file_error(path, "open", errno);
  }
  disk_reserve out{fd, bytes};
  out.held_ = out.has_all();
  if (!out.held_)
    out.take();
  return out;
}

bool disk_reserve::has_all() const noexcept {
  constexpr uint64_t unit = 512; // the unit of st_blocks on every file system
  struct stat info {};
  return ::fstat(fd_, &info) == 0 && static_cast<uint64_t>(info.st_size) >= bytes_
         && static_cast<uint64_t>(info.st_blocks) * unit >= bytes_;
}

void disk_reserve::take() noexcept {
  struct statvfs disk {};
  if (fd_ < 0 || ::fstatvfs(fd_, &disk) != 0 || uint64_t{disk.f_bavail} * disk.f_frsize < needs())
    return;
  held_ = ::posix_fallocate(fd_, 0, static_cast<off_t>(bytes_)) == 0;
  if (!held_)
    release();
}

void disk_reserve::release() noexcept {
  held_ = false;
  if (fd_ >= 0) [[maybe_unused]]
    const auto cut = ::ftruncate(fd_, 0);
}

disk_reserve::disk_reserve(disk_reserve&& other) noexcept
  : fd_(std::exchange(other.fd_, -1)), bytes_(other.bytes_), held_(other.held_) {}
disk_reserve& disk_reserve::operator=(disk_reserve&& other) noexcept {
  std::swap(fd_, other.fd_);
  bytes_ = other.bytes_;
  held_ = other.held_;
  return *this;
}
disk_reserve::~disk_reserve() {
  if (fd_ >= 0)
    ::close(fd_);
}

} // namespace headrace::detail
