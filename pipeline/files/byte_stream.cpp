#include "headrace/pipeline/files/byte_stream.hpp"

#include "headrace/runtime/base/descriptors.hpp"
#include "headrace/runtime/base/thread_waits.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::detail {

namespace {

class plain_file final : public byte_stream {
public:
  plain_file(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~plain_file() override { ::close(fd_); }
  plain_file(const plain_file&) = delete;
  plain_file& operator=(const plain_file&) = delete;

  result<size_t> read(std::span<std::byte> to) override {
    const timed_wait waits{&thread_waits::storage_ns};
    while (true) {
      const auto n = ::read(fd_, to.data(), to.size());
      if (n >= 0)
        return static_cast<size_t>(n);
      if (errno != EINTR)
        return file_error(path_, "read", errno);
    }
  }

  result<bool> skip(uint64_t size) override {
    struct stat info {};
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode))
      return byte_stream::skip(size);
    const auto to = ::lseek(fd_, static_cast<off_t>(std::min<uint64_t>(size, INT64_MAX)), SEEK_CUR);
    if (to < 0)
      return file_error(path_, "seek in", errno);
    return to <= info.st_size;
  }

private:
  std::string path_;
  int fd_;
};

/// Decompresses GZIP (one member or several) or ZLIB; checksums are verified.
class inflated final : public byte_stream {
public:
  inflated(std::string path, std::unique_ptr<byte_stream> from, uint32_t format)
    : path_(std::move(path)), from_(std::move(from)), format_(format), packed_(size_t{256} << 10) {
    restart();
  }

  result<size_t> read(std::span<std::byte> to) override {
    state_.next_out = reinterpret_cast<uint8_t*>(to.data());
    state_.avail_out =
      static_cast<uint32_t>(std::min<size_t>(to.size(), std::numeric_limits<int32_t>::max()));
    const auto room = state_.avail_out;
    bool over = false;
    while (state_.avail_out == room) {
      if (state_.avail_in == 0) {
        HEADRACE_ASSIGN(const auto n, from_->read(packed_));
        state_.next_in = reinterpret_cast<uint8_t*>(packed_.data());
        state_.avail_in = static_cast<uint32_t>(n);
        read_ += n;
        if (n == 0 && between_)
          return size_t{0};
        over = n == 0; // the library may still hold output, for which `to` had no room before
      }
      if (state_.block_state == ISAL_BLOCK_FINISH)
        restart();
      between_ = false;
      if (const int failed = isal_inflate(&state_); failed != ISAL_DECOMP_OK)
        return data_loss(fmt::format("'{}' holds damaged {} data near offset {}{}", path_,
                                     format_ == ISAL_GZIP ? "GZIP" : "ZLIB",
                                     read_ - state_.avail_in,
                                     failed == ISAL_INCORRECT_CHECKSUM ? " (wrong checksum)" : ""));
      between_ = state_.block_state == ISAL_BLOCK_FINISH;
      if (over && !between_ && state_.avail_out == room)
        return data_loss(fmt::format("'{}' ends in the middle of its compressed data, at offset {}",
                                     path_, read_));
      if (between_ && format_ != ISAL_GZIP && state_.avail_out == room)
        return size_t{0};
    }
    return room - state_.avail_out;
  }

private:
  void restart() {
    auto* in = state_.next_in;
    const auto size = state_.avail_in;
    auto* out = state_.next_out;
    const auto room = state_.avail_out;
    isal_inflate_init(&state_);
    state_.crc_flag = format_;
    state_.next_in = in;
    state_.avail_in = size;
    state_.next_out = out;
    state_.avail_out = room;
  }

  std::string path_;
  std::unique_ptr<byte_stream> from_;
  uint32_t format_;
  std::vector<std::byte> packed_;
  inflate_state state_{};
  uint64_t read_ = 0;   ///< the number of compressed bytes that were read
  bool between_ = true; ///< at the start and between members, where the file may end
};

} // namespace

result<bool> byte_stream::skip(uint64_t size) {
  std::vector<std::byte> unused(std::min<uint64_t>(size, uint64_t{1} << 18));
  while (size != 0) {
    HEADRACE_ASSIGN(const auto n,
                    read(std::span{unused}.first(std::min<uint64_t>(size, unused.size()))));
    if (n == 0)
      return false;
    size -= n;
  }
  return true;
}

result<std::unique_ptr<byte_stream>>
open_bytes(const std::string& path, file_compression compression, const std::stop_token& stop) {
  const timed_wait waits{&thread_waits::storage_ns};
  const int fd = open_patiently(path, O_RDONLY, stop);
  if (fd < 0)
    return file_error(path, "open", errno);
  std::unique_ptr<byte_stream> out = std::make_unique<plain_file>(path, fd);
  struct stat info {};
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
    return file_error(path, "read", EISDIR);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  if (compression != file_compression::none)
    out = std::make_unique<inflated>(path, std::move(out),
                                     compression == file_compression::gzip ? ISAL_GZIP : ISAL_ZLIB);
  return out;
}

result<bool> byte_window::more() {
  const auto left = end_ - begin_;
  if (begin_ != 0 && left != 0)
    std::memmove(storage_.data(), storage_.data() + begin_, left);
  begin_ = 0;
  end_ = left;
  // The first part is small, because the file may be small.
  const auto size = storage_.empty() ? first_step : step;
  if (storage_.size() - left < size / 2)
    storage_.resize(std::max(left + size, left * 2));
  HEADRACE_ASSIGN(const auto n, from_->read(std::span{storage_}.subspan(end_)));
  end_ += n;
  return n != 0;
}

} // namespace headrace::detail
