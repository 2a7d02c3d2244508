#pragma once

#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <memory>

namespace headrace {

/// Writes elements into a folder for `saved_reader`. Until `finish` they are not there for anybody:
/// files have other names, and what was in the folder before is what is read. Destroyed without
/// `finish`, it leaves nothing behind. Not thread-safe.
class saved_writer {
public:
  struct options {
    saved_compression compression = saved_compression::none;
    /// Elements that were saved in the folder before are replaced; else `finish` leaves them and
    /// forgets those written here.
    bool replace = false;
    /// A file that has so many bytes is followed by another one.
    uint64_t most_file_bytes = UINT64_MAX;
    /// What the manifest says as its id; 0: a random number.
    uint64_t id = 0;
  };
  /// Makes the folder. Errors name it.
  static result<std::unique_ptr<saved_writer>> open(std::string folder, element_spec spec,
                                                    options how);
  virtual ~saved_writer() = default;

  /// Appends rows to a shard; each has a file of its own. Rows that failed are refused with their
  /// error, rows that do not fit the spec with another. After an error every call answers that
  /// error.
  virtual status write(const block& rows, uint64_t shard = 0) = 0;
  /// Rows that were written.
  virtual uint64_t rows() const noexcept = 0;
  /// Brings all to the disk and makes it what the folder holds. To be called once, at the end.
  virtual result<saved_manifest> finish() = 0;
};

} // namespace headrace
