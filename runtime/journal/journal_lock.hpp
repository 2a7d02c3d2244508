#pragma once

#include "headrace/runtime/base/result.hpp"

#include <string>

namespace headrace::detail {

/// The exclusive use of a directory among all processes of the host: a lock on a file in it that
/// names the process. It ends with the process, however that ends.
class journal_lock {
public:
  /// `already_exists` names the process that has it.
  static result<journal_lock> take(const std::string& directory);
  journal_lock(journal_lock&& other) noexcept;
  journal_lock& operator=(journal_lock&& other) noexcept;
  ~journal_lock();

private:
  explicit journal_lock(int fd) : fd_(fd) {}
  int fd_;
};

} // namespace headrace::detail
