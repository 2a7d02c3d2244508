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
/// or in a table (`[worker]`) for one kind of server alone. Returns the settings for `kind`, those
/// of its table last, so that they replace those at the top when all are stored in this order. The
/// whole file is checked, also settings of other kinds: an error (invalid_argument; not_found if
/// the file does not exist) names file, line and key.
result<std::vector<file_value>> read_settings_file(const std::string& file, server_kind kind);

} // namespace headrace::detail::command
