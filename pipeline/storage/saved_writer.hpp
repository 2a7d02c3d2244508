#pragma once

#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <memory>

namespace headrace::detail {

/// Writes elements into a folder for `saved_reader`. Until `finish`, a `saved_reader` finds the
/// previous contents: the new files have other names. If the writer is destroyed without `finish`,
/// it removes its files. Not thread-safe.
class saved_writer {
public:
  struct options {
    saved_compression compression = saved_compression::none;
    /// True: the folder's previous elements are replaced. False: if there are previous elements,
    /// `finish` keeps them and drops the new ones.
    bool replace = false;
    /// When a file has this many bytes, a further file is begun.
    uint64_t most_file_bytes = UINT64_MAX;
    /// The id in the manifest; 0: a random number.
    uint64_t id = 0;
  };
  /// Makes the folder. Errors name the folder.
  static result<std::unique_ptr<saved_writer>> open(std::string folder, element_spec spec,
                                                    options how);
  virtual ~saved_writer() = default;

  /// Appends rows to a shard; each shard has files of its own. Returns the error of an error row.
  /// After an error, every call returns that error. @pre the rows have the spec
  virtual status write(const block& rows, uint64_t shard = 0) = 0;
  /// The number of written rows.
  virtual uint64_t rows() const noexcept = 0;
  /// Flushes everything to the disk, and makes it the contents of the folder. To be called once, at
  /// the end.
  virtual result<saved_manifest> finish() = 0;
};

} // namespace headrace::detail
