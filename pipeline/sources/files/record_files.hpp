#pragma once

#include "headrace/pipeline/files/random_file.hpp"
#include "headrace/pipeline/graph/source_format.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/result.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace headrace::detail {

/// The records of files of fixed-length records, numbered over all files.
class record_files {
public:
  /// Reads the sizes of the files. The first file that is missing or does not fit the layout counts
  /// as one record that cannot be read, and the files after it are left out. `stop` ends the wait
  /// for a file descriptor.
  record_files(const column& names, const record_layout& layout, std::stop_token stop = {});

  uint64_t size() const noexcept { return size_; }
  /// The files with the number of records in each, on which the numbers of the records depend.
  std::shared_ptr<const split_listing> listing() const;
  /// A digest of the paths of the files that lie before record `record`, and of the file that
  /// contains it, and of the numbers of their first records.
  uint64_t digest_before(uint64_t record) const noexcept;
  /// Returns how many of the `count` records from `first` on lie in the same file as record
  /// `first`. @pre `first < size()`
  uint64_t run(uint64_t first, uint64_t count) const noexcept;
  /// Reads the records [first, first + count), which lie in one file. Errors name the file.
  result<buffer> read(uint64_t first, uint64_t count);

private:
  struct file {
    std::string path;
    uint64_t first = 0; ///< the number of the file's first record
    uint64_t records = 0;
  };
  status add(std::string path);
  size_t find(uint64_t record) const noexcept;
  status open(size_t index);

  record_layout layout_;
  std::stop_token stop_;
  std::vector<file> files_; ///< the files that have records
  uint64_t size_ = 0;
  status bad_;             ///< not ok: the reason why the last record cannot be read
  size_t open_ = SIZE_MAX; ///< the number of the file that is open as `file_`
  std::unique_ptr<const random_file> file_;
};

/// Ok if a file of `bytes` bytes can have this layout; else an error that states the reason.
/// `unpacked`: a text that the error puts after the number of bytes.
status check_size(const std::string& path, uint64_t bytes, const record_layout& layout,
                  const char* unpacked = "");

} // namespace headrace::detail
