#pragma once

#include "headrace/runtime/journal/sqlite_connection.hpp"

#include <span>
#include <string_view>

namespace headrace::detail {

/// The steps between versions of the tables: step n, counted from 0, makes version n + 1 of version
/// n; version 0 has no tables.
std::span<const char* const> journal_steps();

/// Brings a file without tables, or one of an older version, to the newest version, in one
/// transaction. `failed_precondition`: a later version; `data_loss`: another kind of file.
status bring_up_to_date(sqlite_connection& file, std::span<const char* const> steps);

} // namespace headrace::detail
