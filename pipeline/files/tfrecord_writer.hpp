#pragma once

#include "headrace/pipeline/types/file_compression.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headrace {

struct tfrecord_writer_options {
  file_compression compression = file_compression::none;
  /// The level of compression with zlib, 0 to 9; -1: zlib's default.
  int compression_level = -1;
  /// True: an existing file is replaced. False: `finish` keeps it and returns `already_exists`.
  bool replace = true;
};

/// Writes a TFRecord file. The file has another name (`PATH.partial-...`, in the same folder) until
/// `finish` has flushed all of it to the disk. So a file at `path` is complete, and an earlier file
/// remains until `finish`. If the writer is destroyed without `finish`, it removes its file. Not
/// thread-safe.
class tfrecord_writer {
public:
  /// Errors name the file: `not_found` if the folder does not exist, `invalid_argument` for invalid
  /// options.
  static result<tfrecord_writer> open(std::string path, tfrecord_writer_options options = {});
  tfrecord_writer(tfrecord_writer&&) noexcept;
  tfrecord_writer& operator=(tfrecord_writer&&) noexcept;
  ~tfrecord_writer();

  /// Appends a record with its checksums. `resource_exhausted` if the disk is full. After an error,
  /// every call returns that error.
  status write(std::string_view record);
  /// Flushes all records to the disk, and gives the file its name. To be called once, at the end.
  status finish();

  uint64_t records() const noexcept; ///< records written
  /// The bytes of the records with their lengths and checksums, before compression.
  uint64_t bytes() const noexcept;

private:
  class impl;
  explicit tfrecord_writer(std::unique_ptr<impl> made) noexcept;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace
