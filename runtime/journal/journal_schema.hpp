#pragma once

#include "headrace/runtime/journal/sqlite_connection.hpp"

#include <span>
#include <string_view>

namespace headrace::detail {

/// The SQL steps between versions of the tables: step n, counted from 0, changes version n to
/// version n + 1; version 0 has no tables.
std::span<const char* const> journal_steps();

/// Brings a file without tables, or a journal of an older version, to the newest version, in one
/// transaction. `failed_precondition`: the journal has a later version; `data_loss`: the file is
/// not a journal.
status bring_up_to_date(sqlite_connection& file, std::span<const char* const> steps);

} // namespace headrace::detail
