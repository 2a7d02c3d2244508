#pragma once

#include "headrace/pipeline/types/file_compression.hpp"
#include "headrace/runtime/base/file_error.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace headrace::detail {

/// A stream of bytes that are read one after the other. Reading may block.
class byte_stream {
public:
  virtual ~byte_stream() = default;
  /// Fills at least one byte of `to`, and returns the number of bytes; 0: the end. Errors name the
  /// file.
  virtual result<size_t> read(std::span<std::byte> to) = 0;
  /// Skips `size` bytes; false if the stream ends before that. By default the bytes are read and
  /// dropped.
  virtual result<bool> skip(uint64_t size);
};

/// Opens a file, and decompresses it while it is read. `not_found` names the file. If the process
/// has no free file descriptor, the function waits for one, for a bounded time or until `stop`.
result<std::unique_ptr<byte_stream>>
open_bytes(const std::string& path, file_compression compression, const std::stop_token& stop = {});

/// The part of a stream that is held in memory; it advances as its bytes are used.
class byte_window {
public:
  /// `offset`: the offset in the whole stream at which `from` begins.
  explicit byte_window(std::unique_ptr<byte_stream> from, uint64_t offset = 0)
    : from_(std::move(from)), offset_(offset) {}

  /// The bytes that were read and not used. Valid until the next `more`.
  std::span<const std::byte> bytes() const noexcept {
    return {storage_.data() + begin_, end_ - begin_};
  }
  void use(size_t n) noexcept {
    begin_ += n;
    offset_ += n;
  }
  /// Reads more bytes; false at the end of the stream.
  result<bool> more();
  /// The offset of `bytes()` in the (decompressed) stream.
  uint64_t offset() const noexcept { return offset_; }

private:
  static constexpr size_t step = size_t{1} << 20;
  static constexpr size_t first_step = size_t{64} << 10;
  std::unique_ptr<byte_stream> from_;
  std::vector<std::byte> storage_;
  size_t begin_ = 0, end_ = 0;
  uint64_t offset_;
};

} // namespace headrace::detail
