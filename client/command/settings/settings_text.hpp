#pragma once

#include "headrace/client/command/settings/settle.hpp"

#include <string>

namespace headrace::detail::command {

/// The output of `headrace config` for a server, which is a valid file for `--config`: one line for
/// each setting, with a comment that names the source of its value. Unset settings are comments.
std::string settings_text(const settled& x);

/// The same information as one JSON object and a newline: for each key its `value` (null: unset),
/// and the source of the value as `from`.
std::string settings_json(const settled& x);

/// The table of docs/configuration.md: all settings, and their names in C++ and Python.
std::string settings_markdown();

} // namespace headrace::detail::command
