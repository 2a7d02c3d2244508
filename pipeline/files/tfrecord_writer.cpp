#include "headrace/pipeline/files/tfrecord_writer.hpp"

#include "headrace/pipeline/files/tfrecord_format.hpp"
#include "headrace/pipeline/files/whole_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <zlib.h>

namespace headrace {

namespace {

constexpr size_t packed_bytes = size_t{64} << 10;

/// Compresses bytes with zlib before they are written to a file.
class packer {
public:
  packer(detail::whole_file& to, const tfrecord_writer_options& how) : to_(to), out_(packed_bytes) {
    constexpr int window_bits = 15, gzip = 16, memory_level = 8;
    if (deflateInit2(&state_, how.compression_level, Z_DEFLATED,
                     window_bits + (how.compression == file_compression::gzip ? gzip : 0),
                     memory_level, Z_DEFAULT_STRATEGY)
        != Z_OK)
      throw std::bad_alloc{};
  }
  ~packer() { deflateEnd(&state_); }
  packer(const packer&) = delete;
  packer& operator=(const packer&) = delete;

  status write(std::span<const std::byte> bytes, bool last) {
    while (true) {
      constexpr size_t most = size_t{1} << 30; // the library takes sizes as an unsigned int
      const auto part = std::min(bytes.size(), most);
      state_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
      state_.avail_in = static_cast<uInt>(part);
      bytes = bytes.subspan(part);
      HEADRACE_TRY(run(last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH));
      if (bytes.empty())
        return {};
    }
  }

private:
  status run(int flush) {
    do {
      state_.next_out = reinterpret_cast<Bytef*>(out_.data());
      state_.avail_out = static_cast<uInt>(out_.size());
      deflate(&state_, flush);
      HEADRACE_TRY(to_.write(std::span{out_}.first(out_.size() - state_.avail_out)));
    } while (state_.avail_out == 0);
    return {};
  }

  detail::whole_file& to_;
  std::vector<std::byte> out_;
  z_stream state_{};
};

template <class T>
void store(std::byte* to, T x) {
  std::memcpy(to, &x, sizeof x);
}

} // namespace

class tfrecord_writer::impl {
public:
  impl(std::string path, tfrecord_writer_options options)
    : file_(std::move(path), options.replace), options_(std::move(options)) {}

  status open() {
    if (options_.compression_level < -1 || options_.compression_level > 9)
      return invalid_argument(
        fmt::format("tfrecord_writer: compression_level is {}; it must be between 0 and 9, or -1",
                    options_.compression_level));
    HEADRACE_TRY(file_.open());
    if (options_.compression != file_compression::none)
      packer_ = std::make_unique<packer>(file_, options_);
    return {};
  }

  status write(std::string_view record) {
    HEADRACE_TRY(state_);
    const auto* data = reinterpret_cast<const std::byte*>(record.data());
    std::array<std::byte, sizeof(uint64_t) + sizeof(uint32_t)> header;
    std::array<std::byte, sizeof(uint32_t)> footer;
    store<uint64_t>(header.data(), record.size());
    store(header.data() + sizeof(uint64_t),
          detail::tfrecord_checksum(header.data(), sizeof(uint64_t)));
    store(footer.data(), detail::tfrecord_checksum(data, record.size()));
    state_ = put(header);
    if (state_.ok())
      state_ = put({data, record.size()});
    if (state_.ok())
      state_ = put(footer);
    if (state_.ok()) {
      ++records_;
      bytes_ += header.size() + record.size() + footer.size();
    }
    return state_;
  }

  status finish() {
    HEADRACE_TRY(state_);
    if (packer_)
      state_ = packer_->write({}, true);
    if (state_.ok())
      state_ = file_.finish();
    const auto out = state_;
    if (state_.ok())
      state_ =
        failed_precondition(fmt::format("tfrecord_writer: '{}' is finished already", file_.path()));
    return out;
  }

  uint64_t records() const noexcept { return records_; }
  uint64_t bytes() const noexcept { return bytes_; }

private:
  status put(std::span<const std::byte> bytes) {
    return packer_ ? packer_->write(bytes, false) : file_.write(bytes);
  }

  detail::whole_file file_;
  tfrecord_writer_options options_;
  std::unique_ptr<packer> packer_;
  status state_; ///< not ok: nothing more can be written
  uint64_t records_ = 0, bytes_ = 0;
};

tfrecord_writer::tfrecord_writer(std::unique_ptr<impl> made) noexcept : impl_(std::move(made)) {}
tfrecord_writer::tfrecord_writer(tfrecord_writer&&) noexcept = default;
tfrecord_writer& tfrecord_writer::operator=(tfrecord_writer&&) noexcept = default;
tfrecord_writer::~tfrecord_writer() = default;

result<tfrecord_writer> tfrecord_writer::open(std::string path, tfrecord_writer_options options) {
  auto made = std::make_unique<impl>(std::move(path), std::move(options));
  HEADRACE_TRY(made->open());
  return tfrecord_writer{std::move(made)};
}

status tfrecord_writer::write(std::string_view record) { return impl_->write(record); }
status tfrecord_writer::finish() { return impl_->finish(); }
uint64_t tfrecord_writer::records() const noexcept { return impl_->records(); }
uint64_t tfrecord_writer::bytes() const noexcept { return impl_->bytes(); }

} // namespace headrace
