#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <string>

namespace headrace::detail::command {

/// A file with the port that a server listens on, for scripts that start a server with port 0. The
/// file exists while the server listens.
class port_file {
public:
  port_file() = default;
  port_file(const port_file&) = delete;
  port_file& operator=(const port_file&) = delete;
  /// Deletes the file, unless it contains another port by now.
  ~port_file();

  /// Writes the port and a newline to the file `name`; an empty name means that no file is written.
  /// The file appears complete, so that readers never see a part of the number. An existing file
  /// with that name is replaced; a symbolic link is replaced itself, so that other users of the
  /// folder cannot redirect the write to another file. Errors name the file.
  status write(const std::string& name, uint16_t port);

private:
  std::string name_; ///< empty: nothing was written
  std::string text_;
};

} // namespace headrace::detail::command
