#pragma once

#include "headrace/client/command/settings/setting_table.hpp"
#include "headrace/runtime/base/result.hpp"

#include <string>
#include <vector>

namespace headrace::detail::command {

/// The value of one setting in a file.
struct file_value {
  const setting* what = nullptr;
  texts written;
  std::string where; ///< `file:line`
};

/// Reads a TOML file. The keys of settings are at the top, for all servers that have the setting,
/// or in a table (`[worker]`) for one kind of server alone. Returns the settings of one kind of
/// server, in the order in which they must be stored. The whole file is checked, also settings of
/// other kinds: an error (invalid_argument; not_found if the file does not exist) names file, line
/// and key.
result<std::vector<file_value>> read_settings_file(const std::string& file, server_kind kind);

} // namespace headrace::detail::command
