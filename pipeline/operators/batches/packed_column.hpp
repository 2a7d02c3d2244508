#pragma once

#include "headrace/pipeline/iterator/position_reader.hpp"
#include "headrace/pipeline/types/column.hpp"

#include <optional>

namespace headrace::detail {

/// Appends the single row of `c` to a position's numbers: the extents, then the values, with eight
/// bytes in a number; for strings the lengths, then the bytes.
void put(position& to, const column& c);
/// The row that `put` appended; empty if it does not match `spec`.
std::optional<column> read_column(position_reader& from, const tensor_spec& spec);

} // namespace headrace::detail
