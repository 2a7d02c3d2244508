#pragma once

#include "headrace/runtime/journal/journal_file.hpp"

namespace headrace::detail {

/// Reads all rows. Checks that each row is valid, that no row is missing, and that there are no
/// additional rows.
result<journal_contents> read_journal(sqlite_connection& file);

} // namespace headrace::detail
