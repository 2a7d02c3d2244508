#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string>

namespace headrace::detail {

/// Marks the files of a folder whose names begin with the number of one writer: a file
/// `<number>.writing`, with a lock that ends with the writer's process. So files of writers that
/// were killed can be distinguished from those of running writers.
class writing_mark {
public:
  writing_mark() = default;
  /// The beginning of the names of the files with that number.
  static std::string prefix(uint64_t number);
  /// Makes the mark. Errors name the file.
  static result<writing_mark> make(const std::string& folder, uint64_t number);
  writing_mark(writing_mark&& other) noexcept;
  writing_mark& operator=(writing_mark&& other) noexcept;
  ~writing_mark();

private:
  std::string path_;
  int fd_ = -1;
};

/// Removes the files of writers that have ended, except those that the folder's manifest names.
/// Files that cannot be removed stay.
void remove_abandoned(const std::string& folder);

} // namespace headrace::detail
