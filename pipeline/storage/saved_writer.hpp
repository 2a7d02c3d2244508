#pragma once

#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <memory>

namespace headrace {

/// Writes elements into a folder for `saved_reader`. Before `finish` nobody reads them: the files
/// have other names, and readers find the previous contents. If it is destroyed without `finish`,
/// it leaves nothing behind. Not thread-safe.
class saved_writer {
public:
  struct options {
    saved_compression compression = saved_compression::none;
    /// True: the folder's previous elements are replaced. False: if there are any, `finish` keeps
    /// them and drops the new ones.
    bool replace = false;
    /// A file that has this many bytes is followed by another one.
    uint64_t most_file_bytes = UINT64_MAX;
    /// The id in the manifest; 0: a random number.
    uint64_t id = 0;
  };
  /// Makes the folder. Errors name it.
  static result<std::unique_ptr<saved_writer>> open(std::string folder, element_spec spec,
                                                    options how);
  virtual ~saved_writer() = default;

  /// Appends rows to a shard; each shard has a file of its own. Refuses failed rows with their
  /// error, and rows that do not fit the spec. After an error, every call returns that error.
  virtual status write(const block& rows, uint64_t shard = 0) = 0;
  /// The number of written rows.
  virtual uint64_t rows() const noexcept = 0;
  /// Flushes all to the disk, and makes it the contents of the folder. To be called once, at the
  /// end.
  virtual result<saved_manifest> finish() = 0;
};

} // namespace headrace
