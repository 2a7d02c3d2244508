#pragma once

#include "headrace/client/command/setting_table.hpp"
#include "headrace/runtime/base/result.hpp"

#include <string>
#include <vector>

namespace headrace::command {

/// What a file says of one setting.
struct file_value {
  const setting* what = nullptr;
  texts written;
  std::string where; ///< `file:line`
};

/// Reads a TOML file: settings by their keys, at the top for all servers that have them, in a table
/// (`[worker]`) for that one alone. Returns those of one kind of server, in the order in which they
/// are to be put in place. All of the file is checked, also what is meant for others: an error
/// (invalid_argument; not_found, without a file) names file, line and key.
result<std::vector<file_value>> read_settings_file(const std::string& file, server_kind kind);

} // namespace headrace::command
