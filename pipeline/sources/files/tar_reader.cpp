#include "headrace/pipeline/sources/files/tar_reader.hpp"

#include "headrace/pipeline/files/byte_stream.hpp"
#include "headrace/runtime/base/descriptors.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace headrace::detail {

namespace {

constexpr size_t read_bytes = size_t{256} << 10;
constexpr uint64_t most_bytes_before_data = uint64_t{2} << 30;

class libarchive_reader final : public tar_reader {
public:
  explicit libarchive_reader(std::string path) : path_(std::move(path)), from_(archive_read_new()) {
    if (!from_)
      throw std::bad_alloc{};
  }
  ~libarchive_reader() override {
    archive_read_free(from_);
    if (fd_ >= 0)
      ::close(fd_);
  }
  libarchive_reader(const libarchive_reader&) = delete;
  libarchive_reader& operator=(const libarchive_reader&) = delete;

  status start() {
    // Checks that the file can be opened and is not a folder, because the errors of libarchive do
    // not distinguish the kinds of failures.
    HEADRACE_TRY(open_bytes(path_, file_compression::none).status());
    archive_read_support_format_tar(from_);
    archive_read_support_filter_gzip(from_);
    archive_read_support_filter_bzip2(from_);
    archive_read_support_filter_xz(from_);
    archive_read_support_filter_zstd(from_);
    // libarchive does not close the descriptor; the destructor of this class does.
    fd_ = open_patiently(path_, O_RDONLY);
    if (fd_ < 0)
      return file_error(path_, "open", errno);
    if (archive_read_open_fd(from_, fd_, read_bytes) != ARCHIVE_OK)
      return damaged();
    return {};
  }

  result<std::optional<std::string>> next() override {
    while (true) {
      archive_entry* entry = nullptr;
      const int got = archive_read_next_header(from_, &entry);
      if (got == ARCHIVE_EOF) {
        HEADRACE_TRY(check_end());
        return std::optional<std::string>{};
      }
      if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
        return damaged();
      const char* name = archive_entry_pathname(entry);
      if (archive_entry_filetype(entry) == AE_IFREG && name)
        return std::optional{std::string{name}};
    }
  }

  status read(std::string& to) override {
    const void* data = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    const auto begin = to.size();
    while (true) {
      const auto got = archive_read_data_block(from_, &data, &size, &offset);
      const bool over = got == ARCHIVE_EOF; // then `offset` is the size of the file
      if (!over && got != ARCHIVE_OK && got != ARCHIVE_WARN)
        return damaged();
      // A small archive may declare holes of any size in a sparse file, so holes are bounded.
      if (begin + static_cast<uint64_t>(offset) > to.size()
          && static_cast<uint64_t>(offset) > most_bytes_before_data)
        return resource_exhausted(fmt::format(
          "'{}' has a file that goes on at byte {} after a hole; a hole may end at byte {} at most",
          path_, offset, most_bytes_before_data));
      to.resize(begin + static_cast<size_t>(offset));
      if (over)
        return {};
      to.append(static_cast<const char*>(data), size);
    }
  }

private:
  // A complete archive ends with empty headers. libarchive also accepts an archive without them,
  // which was cut; here this is an error.
  status check_end() const {
    if (archive_filter_bytes(from_, 0) > archive_read_header_position(from_))
      return {};
    return data_loss(fmt::format("'{}' ends without a mark of its end, at unpacked offset {}: it "
                                 "was cut",
                                 path_, archive_filter_bytes(from_, 0)));
  }

  status damaged() const {
    const char* why = archive_error_string(from_);
    return data_loss(fmt::format("'{}' is damaged or no tar archive, at unpacked offset {}: {}",
                                 path_, archive_filter_bytes(from_, 0), why ? why : "unknown"));
  }

  std::string path_;
  archive* from_;
  int fd_ = -1;
};

} // namespace

result<std::unique_ptr<tar_reader>> tar_reader::open(const std::string& path) {
  auto out = std::make_unique<libarchive_reader>(path);
  HEADRACE_TRY(out->start());
  return std::unique_ptr<tar_reader>{std::move(out)};
}

} // namespace headrace::detail
