#pragma once

#include "headrace/client/command/settle.hpp"

#include <string>

namespace headrace::command {

/// What `headrace config` prints of a server: a line a setting with where its value is from, which
/// is a file for `--config`. Settings that are not set are comments.
std::string settings_text(const settled& x);

/// The same as one JSON object with a line end: of each key its `value` (null: not set), and where
/// that is `from`.
std::string settings_json(const settled& x);

/// The tables of docs/configuration.md: all settings, and what they are in C++ and Python.
std::string settings_markdown();

} // namespace headrace::command
