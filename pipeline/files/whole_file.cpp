#include "headrace/pipeline/files/whole_file.hpp"

#include "headrace/pipeline/files/byte_stream.hpp"
#include "headrace/runtime/base/descriptors.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail {

namespace {
constexpr size_t most_held = size_t{256} << 10;
}

whole_file::~whole_file() {
  if (fd_ >= 0)
    ::close(fd_);
  if (!partial_.empty())
    ::unlink(partial_.c_str());
}

status whole_file::failed(const char* what, int number) const {
  return file_error(path_, what, number).with_context(fmt::format("after {} bytes", written_));
}

status whole_file::open() {
  if (path_.find('\0') != std::string::npos)
    return file_error(path_, "create", EINVAL);
  for (size_t i = 0;; ++i) {
    partial_ = fmt::format("{}.partial-{}-{}", path_, ::getpid(), i);
    constexpr int everybody = 0666; // reduced by the process's mask
    fd_ = with_descriptors(
      [&] { return ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everybody); });
    if (fd_ >= 0)
      return {};
    if (errno == EEXIST)
      continue;
    partial_.clear();
    return file_error(path_, "create", errno);
  }
}

status whole_file::write(std::span<const std::byte> bytes) {
  held_.insert(held_.end(), bytes.begin(), bytes.end());
  return held_.size() < most_held ? status{} : flush();
}

status whole_file::flush() {
  for (size_t done = 0; done < held_.size();) {
    const auto n = ::write(fd_, held_.data() + done, held_.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return failed("write", errno);
    done += static_cast<size_t>(n);
    written_ += static_cast<uint64_t>(n);
  }
  held_.clear();
  return {};
}

status whole_file::finish() {
  HEADRACE_TRY(flush());
  if (::fsync(fd_) != 0)
    return failed("write", errno);
  // Some file systems report only here that there was no space.
  if (::close(std::exchange(fd_, -1)) != 0)
    return failed("write", errno);
  HEADRACE_TRY(give_name());
  // The name is durable after the folder is synced.
  const auto folder = std::filesystem::path{path_}.parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    ::fsync(fd);
    ::close(fd);
  }
  return {};
}

bool whole_file::has_name() const {
  struct stat mine {
  }, named{};
  const bool same = ::stat(partial_.c_str(), &mine) == 0 && ::stat(path_.c_str(), &named) == 0
                    && mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
  errno = EEXIST;
  return same;
}

status whole_file::give_name() {
  if (replaces_) {
    if (::rename(partial_.c_str(), path_.c_str()) != 0)
      return failed("create", errno);
    partial_.clear();
    return {};
  }
  // `link` never replaces a file. On a file system without hard links, renaming without replacement
  // is tried. EEXIST is no failure if the name is that of this file: if the answer of a file server
  // is lost, its client repeats the request, which then finds the name that the first request made.
  if (::link(partial_.c_str(), path_.c_str()) == 0 || (errno == EEXIST && has_name())) {
    ::unlink(std::exchange(partial_, {}).c_str());
    return {};
  }
  if (errno != EEXIST
      && ::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) {
    partial_.clear();
    return {};
  }
  return errno == EEXIST ? already_exists(fmt::format("'{}' is there already", path_))
                         : failed("create", errno);
}

} // namespace headrace::detail
