#pragma once

#include "headrace/runtime/base/result.hpp"

#include <string>

namespace headrace::detail {

/// The exclusive use of a directory among all processes of the host: a lock on a file in the
/// directory, which contains the process id. The lock ends with the process, even if the process is
/// killed.
class journal_lock {
public:
  /// The error `already_exists` contains the id of the process that has the lock, if the file
  /// contains it.
  static result<journal_lock> take(const std::string& directory);
  journal_lock(journal_lock&& other) noexcept;
  journal_lock& operator=(journal_lock&& other) noexcept;
  ~journal_lock();

private:
  explicit journal_lock(int fd) : fd_(fd) {}
  int fd_;
};

} // namespace headrace::detail
