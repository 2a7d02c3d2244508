#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string>

namespace headrace::detail {

/// Shows that a writer is running. The names of the writer's files in a folder begin with the
/// number of the writer. The mark is a file `<number>.writing`, which is locked until the writer's
/// process ends. So files of writers that were killed can be distinguished from files of running
/// writers.
class writing_mark {
public:
  writing_mark() = default;
  /// The text with which the names of a writer's files begin: its number in 16 hexadecimal digits.
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
