#include "headrace/pipeline/storage/writing_mark.hpp"

#include "headrace/pipeline/files/byte_stream.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".writing";

/// Removes the files whose names have this prefix, if their writer has ended.
void remove_if_abandoned(const std::string& folder, const std::string& prefix) {
  const auto mark = fs::path{folder} / (prefix + std::string{ending});
  const int fd = ::open(mark.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0)
    // The writer may have written the manifest before it was killed; the files that the manifest
    // names are kept.
    if (const auto saved = find_saved(folder)) {
      std::error_code failed;
      std::vector<fs::path> gone;
      for (fs::directory_iterator at{folder, failed}, end; !failed && at != end;
           at.increment(failed)) {
        const auto name = at->path().filename().string();
        const auto kept = [&](const auto& shard) { return shard.file == name; };
        if (name.starts_with(prefix)
            && !(*saved && std::any_of((*saved)->shards.begin(), (*saved)->shards.end(), kept)))
          gone.push_back(at->path());
      }
      for (const auto& file : gone) fs::remove(file, failed);
    }
  ::close(fd);
}

} // namespace

std::string writing_mark::prefix(uint64_t number) { return fmt::format("{:016x}", number); }

result<writing_mark> writing_mark::make(const std::string& folder, uint64_t number) {
  writing_mark out;
  const auto path = (fs::path{folder} / (prefix(number) + std::string{ending})).string();
  constexpr int everybody = 0666; // reduced by the process's umask
  for (;;) {
    out.fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, everybody);
    if (out.fd_ < 0)
      return file_error(path, "create", errno);
    // A failure is ignored: on a file system without locks, `remove_abandoned` cannot lock the mark
    // either, and then removes no files.
    ::flock(out.fd_, LOCK_EX);
    // Another process may have removed the file before it was locked.
    struct stat now {};
    if (::fstat(out.fd_, &now) != 0 || now.st_nlink != 0)
      break;
    ::close(std::exchange(out.fd_, -1));
  }
  out.path_ = path;
  return out;
}

writing_mark::writing_mark(writing_mark&& other) noexcept
  : path_(std::exchange(other.path_, {})), fd_(std::exchange(other.fd_, -1)) {}

writing_mark& writing_mark::operator=(writing_mark&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

writing_mark::~writing_mark() {
  if (!path_.empty())
    ::unlink(path_.c_str());
  if (fd_ >= 0)
    ::close(fd_);
}

void remove_abandoned(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> marked;
  for (fs::directory_iterator at{folder, failed}, end; !failed && at != end; at.increment(failed))
    if (auto name = at->path().filename().string(); name.ends_with(ending))
      marked.push_back(name.substr(0, name.size() - ending.size()));
  for (const auto& prefix : marked)
    // Names of another length do not belong to writers.
    if (prefix.size() == writing_mark::prefix(0).size())
      remove_if_abandoned(folder, prefix);
}

} // namespace headrace::detail
