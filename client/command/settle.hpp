#pragma once

#include "headrace/client/command/setting_table.hpp"
#include "headrace/runtime/base/result.hpp"

#include <map>
#include <string>

namespace headrace::command {

/// The settings on the command line.
struct given_settings {
  std::map<std::string, texts> values; ///< by the settings' names
  std::string file;                    ///< of `--config`; empty: HEADRACE_CONFIG's, or none
};

/// Environment variables whose names begin with HEADRACE_, and their values.
using environment = std::map<std::string, std::string>;
environment environment_of_process();

/// The resulting settings of a server.
struct settled {
  server_kind kind = server_kind::dispatcher;
  server_settings values;
  /// By the name of a setting that is not the default, the place of its value: `command line`,
  /// `file:line`, or the name of the variable.
  std::map<std::string, std::string> from;

  /// The setting in the form in which it was set: `--lease`, `lease (file:3)`, `HEADRACE_LEASE`.
  std::string called(const std::string& name) const;
};

/// Resolves the settings: of the command line, else of the file, else of the environment, else the
/// defaults. An error (invalid_argument) names the place, the fault and what would be right: an
/// invalid value, an unknown name, a contradiction. An unknown environment variable is refused only
/// if its name is close to a known one; an empty one counts as unset.
result<settled> settle(server_kind kind, const given_settings& given, const environment& variables);

/// The settings of one server as flags for one of another kind: those that the other kind has by
/// the same names, without those named in `but`.
texts flags_for(const settled& from, server_kind to, const texts& but);
/// `NAME=` for every variable that a setting is read from: for the environment of servers that get
/// all their settings by flags.
texts no_variables();

} // namespace headrace::command
