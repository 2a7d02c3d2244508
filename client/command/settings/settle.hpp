#pragma once

#include "headrace/client/command/settings/setting_table.hpp"
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
  /// The source of each value that is not the default, by the setting's name: `command line`,
  /// `file:line`, or the name of the variable.
  std::map<std::string, std::string> from;

  /// The name of the setting for messages, in the form in which it was set: `--lease`,
  /// `lease (file:3)` or `HEADRACE_LEASE`.
  std::string called(const std::string& name) const;
};

/// Resolves the settings: a value is taken from the command line, else from the file, else from the
/// environment, else it is the default. Invalid values, unknown names and contradictions are errors
/// (invalid_argument) that contain the source, the fault and a valid value. An unknown environment
/// variable is refused only if its name is similar to a valid one; an empty variable counts as
/// unset.
result<settled> settle(server_kind kind, const given_settings& given, const environment& variables);

/// Flags for a server of the kind `to`, with the values of the settings `from` of a server of
/// another kind. There is a flag for each setting that was set and that the kind `to` has, too,
/// except for the settings that are named in `but`.
texts flags_for(const settled& from, server_kind to, const texts& but);
/// `NAME=` for every variable of a setting. In the environment of a server they unset the
/// variables, so that the server gets all its settings by flags.
texts no_variables();

} // namespace headrace::detail::command
