#pragma once

#include "headrace/runtime/journal/sqlite_connection.hpp"

#include <span>
#include <string_view>

namespace headrace::detail {

/// How the tables of each version are made from those of the one before, beginning with none: the
/// n-th step leads to version n + 1.
std::span<const char* const> journal_steps();

/// Makes a file a journal's of the newest version: one without tables, and one of an older version,
/// in one transaction. `failed_precondition` for a later version; `data_loss` for another kind of
/// file.
status bring_up_to_date(sqlite_connection& file, std::span<const char* const> steps);

} // namespace headrace::detail
