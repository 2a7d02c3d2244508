#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string>

namespace headrace::detail {

/// Says that somebody writes files of one number into a folder: a file `<number>.writing` with a
/// lock on it, which ends with the process. So the files of writers that were killed are told from
/// those of writers that live.
class writing_mark {
public:
  writing_mark() = default;
  /// The name of files of a number begins with this.
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

/// Removes the files of writers that are gone, but those that the folder's manifest names. What
/// cannot be removed stays.
void remove_abandoned(const std::string& folder);

} // namespace headrace::detail
