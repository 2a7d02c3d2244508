#pragma once

#include "headrace/client/command/setting_table.hpp"
#include "headrace/runtime/base/result.hpp"

#include <map>
#include <string>

namespace headrace::detail::command {

/// The settings on the command line.
struct given_settings {
  std::map<std::string, texts> values; ///< the values by the settings' names
  /// The file of `--config`; empty: that of HEADRACE_CONFIG, or none.
  std::string file;
};

/// Environment variables whose names begin with HEADRACE_, and their values.
using environment = std::map<std::string, std::string>;
environment environment_of_process();

/// The resulting settings of a server.
struct settled {
  server_kind kind = server_kind::dispatcher;
  server_settings values;
  /// The place of each value that is not the default, by the setting's name: `command line`,
  /// `file:line`, or the name of the variable.
  std::map<std::string, std::string> from;

  /// The setting in the form in which it was set: `--lease`, `lease (file:3)`, `HEADRACE_LEASE`.
  std::string called(const std::string& name) const;
};

/// Resolves the settings: those of the command line, else of the file, else of the environment,
/// else the defaults. An error (invalid_argument) contains the place, the fault and a valid value:
/// the fault is an invalid value, an unknown name, or a contradiction. An unknown environment
/// variable is refused only if its name is similar to a valid one; an empty variable counts as
/// unset.
result<settled> settle(server_kind kind, const given_settings& given, const environment& variables);

/// The settings of one server in the form of flags for one of another kind: those settings that
/// were set, and that the other kind has by the same names, without those named in `but`.
texts flags_for(const settled& from, server_kind to, const texts& but);
/// `NAME=` for every variable of a setting: for the environment of servers that get all their
/// settings by flags.
texts no_variables();

} // namespace headrace::detail::command
