#pragma once

#include "headrace/runtime/base/result.hpp"

#include <memory>
#include <optional>
#include <string>

namespace headrace::detail {

/// The regular files in a tar archive, one after the other.
class tar_reader {
public:
  /// Errors name the file. Compression (gzip, bzip2, xz, zstd) is recognised.
  static result<std::unique_ptr<tar_reader>> open(const std::string& path);
  virtual ~tar_reader() = default;

  /// The name of the next member; nullopt at the end. The unread rest of the previous member is
  /// skipped.
  virtual result<std::optional<std::string>> next() = 0;
  /// Appends the content of the member that `next` returned last.
  virtual status read(std::string& to) = 0;
};

} // namespace headrace::detail
