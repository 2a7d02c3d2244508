#pragma once

#include "headrace/client/command/settings/setting_value.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail::command {

/// One setting of servers: a row of the table from which the flags, the keys of a file, the
/// environment variables, the output of `headrace config`, and docs/configuration.md are made.
struct setting {
  std::string name; ///< the flag without its dashes: `job-gc-timeout`
  std::vector<server_kind> of;
  setting_value value;
  std::string help;
  std::string cpp = {};    ///< the member of the server's options in C++; empty: none
  std::string python = {}; ///< the field of `DispatcherConfig` or `WorkerConfig`; empty: none
  std::string group = {};  ///< the group in the output of `--help`; empty: the default group
  /// The text that is shown to users while the setting is unset. Empty: the setting always has a
  /// value, which `get` returns.
  std::string not_set = {};
  /// The environment variable, if its name does not follow from the setting's.
  std::string variable_as = {};
  bool by_commas = false; ///< a list in one argument, separated by commas

  bool is_of(server_kind kind) const noexcept;
  std::string flag() const { return "--" + name; }
  std::string key() const;      ///< the key in a file: `job_gc_timeout`
  std::string variable() const; ///< the environment variable: `HEADRACE_JOB_GC_TIMEOUT`
};

/// All settings. A name may occur twice, for different kinds of servers.
const std::vector<setting>& all_settings();
/// The settings of one kind, in the order of the table.
std::vector<const setting*> settings_of(server_kind kind);

} // namespace headrace::detail::command
