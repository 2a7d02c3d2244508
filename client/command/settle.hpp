#pragma once

#include "headrace/client/command/setting_table.hpp"
#include "headrace/runtime/base/result.hpp"

#include <map>
#include <string>

namespace headrace::command {

/// What the command line says of settings.
struct given_settings {
  std::map<std::string, texts> values; ///< by the settings' names
  std::string file;                    ///< of `--config`; empty: HEADRACE_CONFIG's, or none
};

/// Environment variables whose names begin with HEADRACE_, and their values.
using environment = std::map<std::string, std::string>;
environment environment_of_process();

/// What holds for a server.
struct settled {
  server_kind kind = server_kind::dispatcher;
  server_settings values;
  /// By a setting's name, where it is not the default: `command line`, `file:line`, or the name of
  /// the variable.
  std::map<std::string, std::string> from;

  /// The setting as whoever set it knows it: `--lease`, `lease (file:3)`, `HEADRACE_LEASE`.
  std::string called(const std::string& name) const;
};

/// The values that hold: of the command line, else of the file, else of the environment, else the
/// defaults. An error (invalid_argument) says where something is wrong, what, and what would be
/// right: a value, a name that nobody knows, values that do not go together. Of the environment,
/// names that nobody knows are refused only if they come near to one, and empty values are none.
result<settled> settle(server_kind kind, const given_settings& given, const environment& variables);

/// What was set for a server, as flags of one of another kind: of the settings that this has by the
/// same names, too, without those named in `but`.
texts flags_for(const settled& from, server_kind to, const texts& but);
/// `NAME=` of every variable that a setting is read from: for the environment of servers that are
/// told by flags all that they are to know.
texts no_variables();

} // namespace headrace::command
